import { z } from 'zod';
import { BACKENDS } from '../core/backend.ts';
import { ConfigurationError, type ConfigurationFault, RagPlusPlusError } from '../core/errors.ts';
import { check, nearestOf, valueAt } from '../core/validation.ts';
import { datasetOptions } from '../datasets/registry.ts';
import { encoderOptions } from '../embedding/registry.ts';
import { parseMetric } from '../evaluation/metric.ts';
import { assertRetriever, retrieverOptions } from '../retrieval/retriever-options.ts';
import { combinations, expandArms, fileName, OWN_KEYS } from './arms.ts';
import { applyOverrides, isPlain, type Plain, readYaml, setPath } from './config-file.ts';

const slug = z.string().regex(/^[a-z0-9][a-z0-9-]*$/, 'lower-case letters, digits and hyphens');

/** Free text for tables; {@link fileName} makes the run file's name of it. */
const armName = z.string().refine((name) => fileName(name) !== '', 'a name with a letter or digit');

const metric = z.string().superRefine((id, context) => {
  try {
    parseMetric(id);
  } catch (error) {
    if (!(error instanceof RagPlusPlusError)) throw error;
    context.addIssue({ code: 'custom', message: `a metric (${error.message})` });
  }
});

const armOptions = retrieverOptions
  .extend({
    name: armName,
    description: z.string().default(''),
    extends: armName.optional(),
    /** Path within the arm -> the values to try on dev. */
    tune: z.record(z.string(), z.array(z.unknown()).min(1)).default({}),
  })
  .superRefine(assertRetriever);

/** A metric that looks further than a ranking goes would say less than its name. */
function assertDepth(
  { metrics, depth }: { readonly metrics: readonly string[]; readonly depth: number },
  context: z.core.$RefinementCtx,
): void {
  const deepest = metrics.find((id) => Number(id.split('@')[1]) > depth);
  if (deepest !== undefined)
    context.addIssue({ code: 'custom', path: ['depth'], message: `as many places as ${deepest} looks at` });
}

const evaluationOptions = z
  .strictObject({
    split: z.enum(['dev', 'test', 'all']).default('test'),
    /** At most so many queries of each split, the earliest; null for all. */
    limitQueries: z.number().int().min(2).nullable().default(null),
    metrics: z.array(metric).min(1).default(['mrr@10', 'recall@10', 'ndcg@10', 'recall@1']),
    baseline: armName,
    /** Resamples of the bootstrap and of the permutation test. */
    samples: z.number().int().min(100).default(10_000),
    level: z.number().gt(0).lt(1).default(0.95),
    /** Places of each ranking that are kept in the run file. */
    depth: z.number().int().min(1).default(100),
    /** Places of each ranking that the report's inspector shows. */
    inspect: z.number().int().min(1).default(10),
  })
  .superRefine(assertDepth);

/** The whole of a config. */
export const experimentConfig = z.strictObject({
  name: slug,
  description: z.string().default(''),
  seed: z.number().int().default(1),
  backend: z.enum(['auto', ...BACKENDS]).default('auto'),
  dataset: datasetOptions,
  embedding: encoderOptions,
  /** How hyper-parameters are chosen, on dev alone. */
  tuning: z
    .strictObject({
      metric: metric.default('mrr@10'),
      /** Share of the dev conversations, the latest, that arms are tuned on; learned parts are fitted on the others meanwhile. */
      holdout: z.number().gt(0).lt(1).default(0.3),
    })
    .prefault({}),
  evaluation: evaluationOptions,
  arms: z.array(armOptions).min(1),
});

export type ExperimentConfig = z.output<typeof experimentConfig>;
export type ArmOptions = z.output<typeof armOptions>;

/** The place of the arm that another one extends, -1 where there is none. */
function parentOf(arms: readonly unknown[], index: number): number {
  const { extends: wanted } = arms[index] as Plain;
  return arms.findIndex((arm, i) => i < index && isPlain(arm) && arm.name === wanted);
}

/** A fault of a key that an arm merely took over is told once, at the arm that wrote it. */
function isInherited(fault: ConfigurationFault, all: readonly ConfigurationFault[], arms: readonly unknown[]): boolean {
  const [, place, rest = ''] = fault.path.match(/^arms\[(\d+)\]\.(.+)$/) ?? [];
  const own = arms[Number(place)];
  if (!isPlain(own) || own.extends === undefined) return false;
  const keys = rest.split(/[.[\]]+/).filter((key) => key !== '');
  if (valueAt(own, keys) !== undefined) return false;
  const parent = parentOf(arms, Number(place));
  return parent < 0 || all.some(({ path }) => path === `arms[${parent}].${rest}`);
}

function duplicateNames(arms: readonly unknown[]): ConfigurationFault[] {
  const names = arms.map((arm) => (isPlain(arm) && typeof arm.name === 'string' ? fileName(arm.name) : undefined));
  return names.flatMap((name, i) =>
    name !== undefined && names.indexOf(name) < i
      ? [{ path: `arms[${i}].name`, expected: 'a name that no arm before it has', got: JSON.stringify(name) }]
      : [],
  );
}

function baselineFaults({ evaluation }: Plain, arms: readonly unknown[]): ConfigurationFault[] {
  const names = arms.flatMap((arm) => (isPlain(arm) && typeof arm.name === 'string' ? [arm.name] : []));
  const baseline = isPlain(evaluation) ? evaluation.baseline : undefined;
  if (typeof baseline !== 'string' || names.length === 0 || names.includes(baseline)) return [];
  const nearest = nearestOf(baseline, names);
  const fault = {
    path: 'evaluation.baseline',
    expected: `an arm (${names.join(', ')})`,
    got: JSON.stringify(baseline),
  };
  return [nearest === undefined ? fault : { ...fault, nearest }];
}

/** Every value that tuning would try is checked before anything runs; nothing is said of an arm that is at fault without being tuned. */
function tuneFaults(arm: unknown, index: number): ConfigurationFault[] {
  const untuned = check(armOptions, arm);
  if ('faults' in untuned) return [];
  const resolved: ArmOptions = untuned.value;
  const { tune } = resolved;
  const path = `arms[${index}].tune`;
  const stray = Object.keys(tune).filter((key) => !isTunable(resolved, key));
  if (stray.length > 0)
    return stray.map((key) => ({ path, expected: 'a path to an option of the arm', got: JSON.stringify(key) }));
  return combinations(tune).flatMap((point) => {
    const tried = check(armOptions, tunedArm(resolved, point));
    return 'faults' in tried ? tried.faults.map((fault) => ({ ...fault, path: `${path}: ${fault.path}` })) : [];
  });
}

function isTunable(arm: ArmOptions, path: string): boolean {
  return !OWN_KEYS.includes(path.split('.')[0] as string) && tunedArm(arm, { [path]: null }) !== null;
}

/** The arm with tuned values set, unchecked; null where a path leads nowhere. */
function tunedArm(arm: ArmOptions, point: Plain): Plain | null {
  const tried: Plain = structuredClone(arm);
  return Object.entries(point).every(([path, value]) => setPath(tried, path.split('.'), value)) ? tried : null;
}

/** An arm with values of a tuning grid in place, which {@link resolveConfig} has already checked. */
export function withTuned(arm: ArmOptions, point: Plain): ArmOptions {
  return armOptions.parse(tunedArm(arm, point));
}

/**
 * Fills in defaults, writes the arms out and checks everything.
 *
 * @throws ConfigurationError with all faults at once.
 */
export function resolveConfig(raw: Plain, source: string): ExperimentConfig {
  const written = Array.isArray(raw.arms) ? raw.arms : [];
  const { arms, faults } = expandArms(written);
  const result = check(experimentConfig, { ...raw, ...(Array.isArray(raw.arms) ? { arms } : {}) });
  const found = 'faults' in result ? result.faults : [];
  faults.push(...found.filter((fault) => !isInherited(fault, found, written)));
  faults.push(...duplicateNames(arms), ...baselineFaults(raw, arms), ...arms.flatMap(tuneFaults));
  const unique = [...new Map(faults.map((fault) => [`${fault.path} ${fault.got}`, fault])).values()];
  if (unique.length > 0 || 'faults' in result) throw new ConfigurationError(source, unique);
  return result.value;
}

/** Reads a config file, applies `path=value` overrides, and resolves it. */
export function loadConfig(path: string, overrides: readonly string[] = []): ExperimentConfig {
  return resolveConfig(applyOverrides(readYaml(path), overrides), path);
}
