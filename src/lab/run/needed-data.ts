import {
  ConfigurationError,
  type ConfigurationFault,
  InvalidFilterError,
  ValidationError,
} from '../../core/errors/errors.ts';
import { parseMetric } from '../../eval/metrics/metric.ts';
import { readTitle } from '../../index/graph/graph-moment.ts';
import type { Dataset, DatasetDeclaration } from '../../model/dataset.ts';
import { assertFilterNames } from '../../model/filter/filter.ts';
import { parseFilter } from '../../model/filter/parse-filter.ts';
import type { DataPart, DataReader } from '../../rank/retrieval/steps/step.ts';
import { listDataReadersOfArm, type RankOptions, readArm } from '../../rank/retrieval/written-steps.ts';
import {
  explainMemoryScore,
  MEMORY_SIGNALS,
  type MemoryReason,
  type MemorySignals,
} from '../../rank/signals/memory-signals.ts';
import { chooseStrategyWeights, readAsker } from '../../rank/signals/signal-options.ts';
import { queryStrategies } from '../../rank/signals/strategy.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import type { ArmOptions } from '../config/config.ts';
import { joinExamples } from '../measure/warning.ts';
import type { ArmRecord } from './arm-record.ts';
import { withTuned } from './tuning.ts';

/** A part of an arm or a model, the attribute that it reads, and the setting that omits it. */
export interface AttributeReader {
  readonly part: string;
  /** `arm X` or `model X`. */
  readonly owner: string;
  readonly attribute: string;
  readonly remedy: string;
}

function listReadAttributes(arm: ArmOptions): AttributeReader[] {
  const owner = `arm ${arm.name}`;
  return readArm(arm).steps.flatMap(({ attributes }) => attributes.map((read) => ({ ...read, owner })));
}

/** The names of the attributes that some turn has. */
export function listAttributes({ corpus }: Pick<Dataset, 'corpus'>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { attributes } of corpus.turns) for (const name of Object.keys(attributes ?? {})) names.add(name);
  return names;
}

/**
 * @throws ValidationError for readers of an attribute which no turn has, naming the owner, the attribute and what to
 *   do.
 */
export function assertAttributesFor(dataset: Dataset, readers: readonly AttributeReader[]): void {
  if (readers.length === 0) return;
  const known = listAttributes(dataset);
  const missing = readers.filter(({ attribute }) => !known.has(attribute));
  if (missing.length === 0) return;
  const parts = missing.map(({ owner, part }) => `${part} of ${owner}`);
  const remedies = [...new Set(missing.map(({ remedy }) => remedy))];
  const have = known.size === 0 ? 'no turn has an attribute' : `turns have ${[...known].sort().join(', ')}`;
  throw new ValidationError(
    `dataset ${dataset.name} has no attribute for ${parts.join('; ')}: ${have}; ${remedies.join('; ')}, or add the attribute to the turns`,
    { dataset: dataset.name, missing: missing.map(({ owner, attribute }) => ({ owner, attribute })) },
  );
}

/**
 * @throws ValidationError for null controls that exchange titles, if the turns have fewer than two: each would be the
 *   arm that it controls.
 */
function assertTitles({ name, corpus }: Dataset, arms: readonly ArmOptions[]): void {
  const named = arms.filter(({ control }) => control?.kind === 'shuffled-titles').map((arm) => arm.name);
  if (named.length === 0) return;
  const titles = new Set(corpus.turns.map(readTitle).filter((title) => title !== null));
  if (titles.size >= 2) return;
  throw new ValidationError(
    `dataset ${name} has ${titles.size === 0 ? 'no title' : 'one title'}, and null control shuffled-titles exchanges the titles of its turns in ${named.length} arms (${joinExamples(named)}); leave this kind out, as in controls: [random-graph], or add the attribute title to the turns`,
    { dataset: name, arms: named },
  );
}

/** The filters of an arm, before the search and after it. */
export function listFilterTexts(arm: ArmOptions): string[] {
  const { view, poolFilters } = readArm(arm).outline;
  return [...(view.filter === null ? [] : [view.filter]), ...poolFilters];
}

/** @throws ConfigurationError for filters by an attribute that no turn has and that may be misspelt, with every arm. */
function assertFilters(dataset: Dataset, arms: readonly ArmOptions[]): void {
  const filters = arms.flatMap((arm) => {
    const { sources } = readArm(arm).outline;
    const own = sources.flatMap(({ index }) => ('filter' in index && index.filter ? [index.filter] : []));
    return [...listFilterTexts(arm), ...own].map((text) => ({ name: arm.name, text }));
  });
  if (filters.length === 0 || dataset.corpus.size === 0) return;
  const known = listAttributes(dataset);
  const faults = filters.flatMap(({ name, text }): ConfigurationFault[] => {
    try {
      assertFilterNames(parseFilter(text), known, `a turn of ${dataset.name}`);
      return [];
    } catch (error) {
      if (!(error instanceof InvalidFilterError)) throw error;
      const { expected, got, remedy } = error.fault;
      return [{ path: `filter of arm ${name}`, expected: `${expected}; ${remedy}`, got }];
    }
  });
  if (faults.length > 0) throw new ConfigurationError('filters', faults);
}

/**
 * @throws ValidationError for an arm that reads an attribute which no turn has, boosts one of another kind, or
 *   exchanges titles that no turn has.
 */
export function assertArmAttributes(dataset: Dataset, arms: readonly ArmOptions[]): void {
  assertAttributesFor(dataset, arms.flatMap(listReadAttributes));
  assertFilters(dataset, arms);
  assertTitles(dataset, arms);
  for (const arm of arms) for (const step of readArm(arm).steps) step.assertData(dataset, `arm ${arm.name}`);
}

/** @throws ValidationError for metrics of superseded turns if the dataset names none, before anything is computed. */
export function assertMetricData({ name, superseded }: Dataset, metrics: readonly string[]): void {
  const unknown = metrics.filter((metric) => superseded === undefined && parseMetric(metric).readsSuperseded);
  if (unknown.length === 0) return;
  throw new ValidationError(
    `dataset ${name} names no superseded turns for metrics: ${unknown.join(', ')}; leave the metrics out, or add superseded.tsv to a jsonl folder`,
    { dataset: name, metrics: unknown },
  );
}

/** The weights of the five signals for each query of an arm with the signal `strategy`; nothing for other arms. */
export async function listStrategyWeights(
  workspace: Workspace,
  arm: RankOptions,
): Promise<Pick<ArmRecord, 'strategyWeights'>> {
  const { outline, control } = readArm(arm);
  const written = [...outline.columns.values()].find(({ strategy }) => strategy !== undefined)?.strategy;
  if (written === undefined) return {};
  const { strategies } = await workspace.under(control).get(queryStrategies(null));
  const strategyWeights = workspace.queries.map((query, q) => {
    const weights = chooseStrategyWeights(written, strategies[q] as (typeof strategies)[number], readAsker(query));
    return MEMORY_SIGNALS.map((name) => weights[name]);
  });
  return { strategyWeights };
}

/**
 * Why a ranked turn has its score of the signal `strategy`, by the weights that the arm used for the query; null for an
 * arm without the signal.
 *
 * @param query position of the query in the record.
 * @param parts of the turn's score by name, the five signals among them.
 */
export function explainRankedTurn(
  { strategyWeights }: Pick<ArmRecord, 'strategyWeights'>,
  query: number,
  parts: Readonly<Record<string, number>>,
  memoryType: string | null,
): MemoryReason | null {
  const row = strategyWeights?.[query];
  if (row === undefined) return null;
  const weights = Object.fromEntries(MEMORY_SIGNALS.map((name, i) => [name, row[i]])) as MemorySignals;
  return explainMemoryScore(parts as MemorySignals, weights, memoryType);
}

/** The options that an arm may get by its own tuning, one value at a time. */
function listTunedOptions(arm: ArmOptions): ArmOptions[] {
  const points = Object.entries(arm.tune).flatMap(([path, values]) => values.map((value) => ({ [path]: value })));
  return points.length === 0 ? [arm] : points.map((point) => withTuned(arm, point));
}

function listArmReaders(arm: ArmOptions, lacking: ReadonlySet<DataPart>): DataReader[] {
  const byPart = listTunedOptions(arm)
    .flatMap((options) => listDataReadersOfArm(readArm(options), lacking))
    .map((reader) => [reader.part, reader] as const);
  return [...new Map(byPart).values()];
}

const LACKED_BY_TIMES: Readonly<Record<NonNullable<DatasetDeclaration['times']>, readonly DataPart[]>> = {
  real: [],
  order: ['clock'],
  none: ['clock', 'order'],
};

/** What a dataset declares not to have. */
export function listLacking({ times = 'real', threads = 'real' }: DatasetDeclaration): ReadonlySet<DataPart> {
  return new Set([...LACKED_BY_TIMES[times], ...(threads === 'none' ? (['threads'] as const) : [])]);
}

function describeLacking({ times, threads }: DatasetDeclaration): string {
  if (times === 'order')
    return threads === 'none' ? 'an order of turns but no times and no threads' : 'an order of turns but no times';
  return ['times', 'threads']
    .filter((part) => (part === 'times' ? times : threads) === 'none')
    .map((part) => `no ${part}`)
    .join(' and ');
}

/**
 * Refuses what reads hours, dates, an order of turns or threads on data without them.
 *
 * @param readers for each arm or model, by its name, the parts that read something which the dataset lacks ({@link listLacking}).
 * @throws ValidationError that names each arm, its parts and what to do.
 */
export function assertDataFor(
  { name, declaration }: Dataset,
  kind: 'arm' | 'model',
  readers: ReadonlyMap<string, readonly DataReader[]>,
): void {
  const refused = [...readers].filter(([, parts]) => parts.length > 0);
  if (refused.length === 0) return;
  const parts = refused.map(([named, list]) => `${kind} ${named} reads ${list.map(({ part }) => part).join(', ')}`);
  const remedies = [...new Set(refused.flatMap(([, list]) => list.map(({ remedy }) => remedy)))];
  throw new ValidationError(
    `dataset ${name} has ${describeLacking(declaration)}, and ${parts.join('; ')}; ${remedies.join('; ')}; or leave the ${kind} out`,
    { dataset: name, [`${kind}s`]: refused.map(([named]) => named) },
  );
}

/** @throws ValidationError for an arm that needs times or threads if the data has none, or has only an order of turns. */
export function assertArmData(dataset: Dataset, arms: readonly ArmOptions[]): void {
  const lacking = listLacking(dataset.declaration);
  assertDataFor(dataset, 'arm', new Map(arms.map((arm) => [arm.name, listArmReaders(arm, lacking)])));
}
