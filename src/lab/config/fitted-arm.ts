import { ConfigurationError, type ConfigurationFault } from '../../core/errors/errors.ts';
import { locatePath, readText } from '../../core/files/files.ts';
import { parse, shortenToExcerpt } from '../../core/validation/validation.ts';
import { listedFolds } from '../../rank/learning/fit-options.ts';
import type { PoolParts } from '../../rank/retrieval/candidate-sources.ts';
import { parseSteps, readArm, type WrittenStep } from '../../rank/retrieval/written-steps.ts';
import { isPlain, type Path, type Plain } from '../composition/config-file.ts';
import { type FittedArm, findFittedArm, hasFit, listFixedArms } from './arm-selection.ts';
import type { ExperimentConfig } from './config-schema.ts';

/**
 * The arm of a fit before it is fitted: the weights where the fit starts. By default the others are compared with it.
 */
export const HAND_TUNED_ARM = 'hand-tuned';

/** The arms that a fitted arm becomes, one for each method that chooses its weights, the learned one last. */
export const FIT_METHODS = [HAND_TUNED_ARM, 'uniform', 'random search', 'coordinate ascent', 'learned'] as const;
export type FitMethod = (typeof FIT_METHODS)[number];

/**
 * A config with the defaults of an experiment that fits an arm: it measures dev, and arms are compared with the fitted
 * one before its fit.
 */
export function withFitDefaults(content: Plain, arms: readonly unknown[]): Plain {
  const fitted = arms.find(hasFit) as Plain | undefined;
  const { evaluation = {} } = content;
  if (fitted === undefined || !isPlain(evaluation)) return content;
  const { baseline = fitted.name } = evaluation;
  const start = baseline === fitted.name ? HAND_TUNED_ARM : baseline;
  return { ...content, evaluation: { split: 'dev', ...evaluation, baseline: start } };
}

/** The lists of the file that `mix.fit.folds` names in its place, so that a resolved config is complete. */
export function withFoldsFile(
  arm: Plain,
  folderOf: (keys: Path) => string | null,
): { readonly arm: Plain; readonly faults: ConfigurationFault[] } {
  const { mix } = arm;
  if (!isPlain(mix) || !isPlain(mix.fit)) return { arm, faults: [] };
  const { folds: file } = mix.fit;
  if (typeof file !== 'string' || file === 'leave-one-out') return { arm, faults: [] };
  try {
    const folds = parse(listedFolds, JSON.parse(readText(locatePath(file, folderOf(['mix', 'fit', 'folds'])))), file);
    return { arm: { ...arm, mix: { ...mix, fit: { ...mix.fit, folds } } }, faults: [] };
  } catch (error) {
    const [fault] = error instanceof ConfigurationError ? error.faults : [];
    const reason = fault ? `${fault.path}: expected ${fault.expected}, got ${fault.got}` : (error as Error).message;
    const expected = `leave-one-out, a number, lists of conversations, or a readable file with a JSON list of such lists (${reason})`;
    return { arm, faults: [{ path: 'mix.fit.folds', expected, got: shortenToExcerpt(file) }] };
  }
}

/** Steps that a fitted arm may have before its mix. */
const POOL_STEPS: readonly string[] = ['filter', 'propagate', 'search', 'score'];

/**
 * The arm with the steps before its mix that other data needs.
 *
 * @throws ConfigurationError for what are no such steps.
 */
export function withPoolSteps(arm: FittedArm, steps: readonly unknown[]): FittedArm {
  const { name, mix } = arm;
  const { control: _, ...parsed } = parseSteps([...(steps as WrittenStep[]), { mix }]);
  const kept = Object.fromEntries(
    Object.entries(arm).filter(([key]) => !arm.steps.includes(key) && !['as', 'unchanged'].includes(key)),
  );
  return { ...kept, ...parsed, name } as FittedArm;
}

/** The sources of a fitted arm's candidates. */
export function readPoolParts(arm: FittedArm): PoolParts {
  return readArm(arm).outline;
}

/** @returns what is wrong with the steps of other data. */
function findTransferFaults(arm: FittedArm, path: string): ConfigurationFault[] {
  return arm.mix.fit.transfer.flatMap(({ steps }, i) => {
    if (steps === undefined) return [];
    try {
      withPoolSteps(arm, steps);
      return [];
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      return error.faults.map((fault) => ({ ...fault, path: `${path}.mix.fit.transfer[${i}].steps: ${fault.path}` }));
    }
  });
}

/** Errors of the arms beside a fitted one. */
function findFixedFaults(config: ExperimentConfig): ConfigurationFault[] {
  const methods: readonly string[] = FIT_METHODS;
  return listFixedArms(config).flatMap((arm) => {
    const at = `arms[${config.arms.indexOf(arm)}]`;
    const { name, mix, control, repeats, tune } = arm;
    const faults: ConfigurationFault[] = [];
    if ((mix && 'fit' in mix) || control !== null || repeats !== null)
      faults.push({
        path: `${at}.mix`,
        expected: 'one arm with mix.fit, without null controls or repetitions',
        got: name,
      });
    if (methods.includes(name))
      faults.push({ path: `${at}.name`, expected: `none of ${methods.join(', ')}, the arms of the fit`, got: name });
    if (Object.keys(tune).length > 0)
      faults.push({
        path: `${at}.tune`,
        expected: 'no tuning beside a fit, which measures dev',
        got: shortenToExcerpt(tune),
      });
    return faults;
  });
}

/** Errors of an experiment that fits an arm. */
export function findFitFaults(config: ExperimentConfig): ConfigurationFault[] {
  const arm = findFittedArm(config);
  if (arm === null) return [];
  const { arms, evaluation, sweep, only } = config;
  const at = `arms[${arms.indexOf(arm)}]`;
  const baselines = [HAND_TUNED_ARM, ...listFixedArms(config).map(({ name }) => name)];
  const faults: ConfigurationFault[] = [];
  const expect = (holds: boolean, path: string, expected: string, got: unknown) => {
    if (!holds) faults.push({ path, expected, got: shortenToExcerpt(got) });
  };
  const alone = 'nothing beside an arm with mix.fit';
  expect(only === null || only.includes(arm.name), 'only', `the fitted arm, ${arm.name}, among others`, only);
  expect(sweep === null, 'sweep', alone, sweep);
  expect(Object.keys(arm.tune).length === 0, `${at}.tune`, `${alone}; list values in mix.fit`, arm.tune);
  expect(
    evaluation.split === 'dev',
    'evaluation.split',
    'dev, since ragpp test-weights measures a fit on the test split',
    evaluation.split,
  );
  expect(
    baselines.includes(evaluation.baseline),
    'evaluation.baseline',
    `${baselines.join(', or ')}; ${HAND_TUNED_ARM} is the arm before its fit`,
    evaluation.baseline,
  );
  expect(evaluation.race === null, 'evaluation.race', alone, evaluation.race);
  expect(evaluation.latency === null, 'evaluation.latency', alone, evaluation.latency);
  expect(evaluation.conservation === undefined, 'evaluation.conservation', alone, evaluation.conservation);
  const last = arm.steps.at(-1);
  const wrong = arm.steps.slice(0, -1).find((name) => !POOL_STEPS.includes(arm.as?.[name] ?? name));
  expect(
    last === 'mix' && wrong === undefined,
    `${at}.steps`,
    `mix with its fit as the last step, after ${POOL_STEPS.join(', ')}`,
    last === 'mix' ? wrong : last,
  );
  return [...faults, ...findFixedFaults(config), ...findTransferFaults(arm, at)];
}
