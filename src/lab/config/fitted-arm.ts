import { isDeepStrictEqual } from 'node:util';
import { ConfigurationError, type ConfigurationFault, locatePath } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { getValueAt, parse, shortenToExcerpt } from '../../core/validation/validation.ts';
import { type FittedMix, listedFolds } from '../../rank/learning/fit-options.ts';
import type { PoolParts } from '../../rank/retrieval/candidate-sources.ts';
import { parseSteps, readArm, type WrittenStep } from '../../rank/retrieval/written-steps.ts';
import { isPlain, type Path, type Plain, parsePath, setPath } from '../composition/config-file.ts';
import { type ArmOptions, armOptions, type ExperimentConfig } from './config-schema.ts';

/** The arm with tuned values set, unchecked; null if a path does not exist. */
export function applyTunedPoint(arm: ArmOptions, point: Plain): Plain | null {
  const tried: Plain = structuredClone(arm);
  return Object.entries(point).every(([path, value]) => setPath(tried, parsePath(path, tried), value)) ? tried : null;
}

/** An arm with values of a tuning grid in place, which `resolveConfig` has already checked. */
export function withTuned(arm: ArmOptions, point: Plain): ArmOptions {
  return parse(armOptions, applyTunedPoint(arm, point), `arm ${arm.name} with tuned values`);
}

/** The tuned values of the arm that this arm extends, as far as this arm reuses them. */
export function inheritTunedPoint(arm: ArmOptions, parent: ArmOptions, tuned: Plain): Plain {
  const isOwn = (path: string) =>
    arm.differences.some((own) => `${own}.`.startsWith(`${path}.`) || `${path}.`.startsWith(`${own}.`));
  const kept = Object.entries(tuned).filter(([path]) => {
    const keys = parsePath(path, arm);
    return !(path in arm.tune) && !isOwn(path) && isDeepStrictEqual(getValueAt(arm, keys), getValueAt(parent, keys));
  });
  return Object.fromEntries(kept);
}

/** The arm of a fit before it is fitted: the weights where the fit starts. The others are compared with it. */
export const HAND_TUNED_ARM = 'hand-tuned';

/** An arm whose mix is fitted. */
export type FittedArm = ArmOptions & { readonly mix: FittedMix };

/** The arm of an experiment that is fitted; null for an experiment that fits none. */
export function findFittedArm({ arms }: Pick<ExperimentConfig, 'arms'>): FittedArm | null {
  return (arms.find(({ mix }) => mix && 'fit' in mix) as FittedArm | undefined) ?? null;
}

/** True for an arm that is written out and whose mix is fitted. */
export const hasFit = (arm: unknown) => isPlain(arm) && isPlain(arm.mix) && isPlain(arm.mix.fit);

/**
 * A config with the defaults of an experiment that fits an arm: it measures dev, and the arm is compared with itself
 * before the fit.
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
  const kept = Object.fromEntries(Object.entries(arm).filter(([key]) => !arm.steps.includes(key) && key !== 'as'));
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

/** Errors of an experiment that fits an arm: what it cannot have beside it. */
export function findFitFaults(config: ExperimentConfig): ConfigurationFault[] {
  const arm = findFittedArm(config);
  if (arm === null) return [];
  const { arms, evaluation, sweep } = config;
  const at = `arms[${arms.indexOf(arm)}]`;
  const faults: ConfigurationFault[] = [];
  const expect = (holds: boolean, path: string, expected: string, got: unknown) => {
    if (!holds) faults.push({ path, expected, got: shortenToExcerpt(got) });
  };
  const others = arms.filter((one) => one !== arm).map(({ name }) => name);
  const alone = 'nothing beside an arm with mix.fit, whose arms are the ways to choose its weights';
  expect(others.length === 0, 'arms', alone, others);
  expect(sweep === null, 'sweep', alone, sweep);
  expect(Object.keys(arm.tune).length === 0, `${at}.tune`, `${alone}; list values in mix.fit`, arm.tune);
  expect(
    evaluation.split === 'dev',
    'evaluation.split',
    'dev, since ragpp test-weights measures a fit on the test split',
    evaluation.split,
  );
  expect(
    evaluation.baseline === HAND_TUNED_ARM,
    'evaluation.baseline',
    `${HAND_TUNED_ARM}, the arm before its fit`,
    evaluation.baseline,
  );
  expect(evaluation.race === null, 'evaluation.race', alone, evaluation.race);
  expect(evaluation.latency === null, 'evaluation.latency', alone, evaluation.latency);
  const last = arm.steps.at(-1);
  const wrong = arm.steps.slice(0, -1).find((name) => !POOL_STEPS.includes(arm.as?.[name] ?? name));
  expect(
    last === 'mix' && wrong === undefined,
    `${at}.steps`,
    `mix with its fit as the last step, after ${POOL_STEPS.join(', ')}`,
    last === 'mix' ? wrong : last,
  );
  return [...faults, ...findTransferFaults(arm, at)];
}
