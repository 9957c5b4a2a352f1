import { RagPlusPlusError } from '../../core/errors/errors.ts';
import { findNearestWord } from '../../core/validation/validation.ts';
import { parseMetric } from '../../eval/metrics/metric.ts';
import type { RunIndexOptions } from '../../index/runs/run-options.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { isOwnField, listFilterFields } from '../../model/filter/filter.ts';
import { parseFilter } from '../../model/filter/parse-filter.ts';
import type { Run } from '../../model/run.ts';
import type { Scored } from '../../model/turns/tie-rule.ts';
import type { ListReach } from '../../ops/fusion/reach.ts';
import { candidatesFrom } from '../../rank/retrieval/candidate-sources.ts';
import { readArm } from '../../rank/retrieval/written-steps.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import type { ArmOptions } from '../config/arm-options.ts';
import type { ExperimentConfig } from '../config/config-schema.ts';
import type { ProtocolWarning } from '../measure/result.ts';
import { describeSmallStrata, describeUnknownTurns, describeWarning, joinExamples } from '../measure/warning.ts';
import type { ArmRecord } from './arm-record.ts';
import type { ArmRunner } from './arm-runner.ts';
import { listAttributes, listFilterTexts } from './needed-attributes.ts';

function describeUnknown(field: string, known: ReadonlySet<string>): string {
  const nearest = findNearestWord(field, [...known]);
  return nearest === undefined ? field : `${field} (did you mean ${nearest}?)`;
}

/**
 * A warning for each arm whose filter reads an attribute that no turn has. It is no error: data without a turn that is
 * marked as sensitive is no fault. Null controls and repetitions have the filter of the arm that they repeat.
 */
export function findFilterWarnings(arms: readonly ArmOptions[], dataset: Pick<Dataset, 'corpus'>): ProtocolWarning[] {
  const filtered = arms.filter(
    (arm) => arm.control === null && arm.repeats === null && listFilterTexts(arm).length > 0,
  );
  if (filtered.length === 0) return [];
  const known = listAttributes(dataset);
  return filtered.flatMap((arm) => {
    const fields = listFilterTexts(arm).flatMap((text) => listFilterFields(parseFilter(text)));
    const unknown = fields.filter((field) => !isOwnField(field) && !known.has(field));
    if (unknown.length === 0) return [];
    const listed = unknown.map((field) => describeUnknown(field, known)).join(', ');
    const text = `the filter reads attributes that no turn has and that are null: ${listed}; correct the filter, or add them to the turns`;
    return [describeWarning('unknown-attribute', arm.name, text)];
  });
}

/**
 * Describes what a run file lacks for the measured queries; null for nothing. The rankings that are looked at are
 * cached by the arm.
 */
async function describeMissing(
  workspace: Workspace,
  source: RunIndexOptions,
  measured: ReadonlySet<string>,
  effect: string,
): Promise<string | null> {
  try {
    const { positions, width } = await workspace.get(candidatesFrom(source, null));
    const missing = workspace.queries.flatMap(({ id }, q) =>
      measured.has(id) && (positions[q * width] as number) < 0 ? [id] : [],
    );
    if (missing.length === 0) return null;
    return `${missing.length} of ${measured.size} judged queries have no ranking in ${source.path} and ${effect} (${joinExamples(missing)}); add their rankings`;
  } catch (error) {
    if (!(error instanceof RagPlusPlusError)) throw error;
    // The arms are done: a damaged file of the cache does not end their run.
    return `queries that ${source.path} lacks were not counted, ${error.code}: ${error.message}`;
  }
}

/** A warning for each arm and each of its run files that lacks a measured query. */
async function findRunFileWarnings(
  runner: Pick<ArmRunner, 'openArmWorkspace'>,
  records: readonly ArmRecord[],
  queries: readonly Query[],
): Promise<ProtocolWarning[]> {
  const measured = new Set(queries.map(({ id }) => id));
  const warnings: ProtocolWarning[] = [];
  for (const { name, options } of records) {
    const { sources } = readArm(options).outline;
    const effect = sources.length === 1 ? 'count 0' : 'get no candidate from it';
    for (const { index: source } of sources) {
      if (source.index !== 'run') continue;
      const text = await describeMissing(await runner.openArmWorkspace(options), source, measured, effect);
      if (text !== null) warnings.push(describeWarning('missing-queries', name, text));
    }
  }
  return warnings;
}

/**
 * The share of an arm's ranked turns from which ties at the ends of its rankings are reported: fewer hardly move a
 * figure.
 */
const REPORTED_SHARE = 0.05;

/** The number of last turns of a ranking that have one score, best first; 0 if the last turn has a score of its own. */
function countTiedEnd(ranking: readonly Scored[]): number {
  const last = ranking.at(-1)?.score;
  const tied = ranking.length - 1 - ranking.findLastIndex(({ score }) => score !== last);
  return tied < 2 ? 0 : tied;
}

function describeTiedEnds(rankings: readonly (readonly Scored[])[]): string | null {
  const ends = rankings.map((ranking) => ({ tied: countTiedEnd(ranking), ranked: ranking.length }));
  const tied = ends.reduce((sum, end) => sum + end.tied, 0);
  const ranked = ends.reduce((sum, end) => sum + end.ranked, 0);
  if (tied === 0 || tied < REPORTED_SHARE * ranked) return null;
  const cut = ends.filter((end) => end.tied > 0);
  const share = (part: number, whole: number) => `${part} of ${whole} (${((100 * part) / whole).toFixed(1)} %)`;
  const first = cut.map((end) => end.ranked - end.tied + 1).sort((a, b) => a - b)[Math.floor(cut.length / 2)];
  return `the last turns of a ranking have one score and are in the order of their ids, in ${share(cut.length, rankings.length)} queries, ${share(tied, ranked)} ranked turns, in half of these queries from rank ${first} or earlier; add a signal that scores them, or lower evaluation.depth`;
}

/**
 * A warning for each arm whose rankings end in turns of one score, which only the tie rule orders: by id, descending.
 * Ids often follow time, so such an order may find much that the arm does not. Of a ranking, as deep as
 * `evaluation.depth`, all last turns with the score of the last one count, if they are at least two; an arm is reported
 * if they are at least 5 % of its ranked turns.
 *
 * @param runs the rankings by the name of the arm.
 * @param queries the measured ones.
 */
export function findTiedEndWarnings(
  runs: ReadonlyMap<string, Run>,
  queries: readonly { readonly id: string }[],
): ProtocolWarning[] {
  return [...runs].flatMap(([name, run]) => {
    const text = describeTiedEnds(queries.map(({ id }) => run.get(id) ?? []));
    return text === null ? [] : [describeWarning('tied-end', name, text)];
  });
}

/**
 * The ranks that the figures of a run look at: the largest cutoff of its metrics; the depth of the rankings, if no
 * metric has one.
 */
function findDeepestRank({ metrics, depth }: Pick<ExperimentConfig['evaluation'], 'metrics' | 'depth'>): number {
  const cutoffs = metrics.flatMap((metric) => parseMetric(metric).cutoff ?? []);
  return cutoffs.length === 0 ? depth : Math.max(...cutoffs);
}

function describeRanks({ source, agreeing, apart }: ListReach): string {
  return `${source} ${agreeing} and ${apart}`;
}

function describeArmReach(arm: ArmOptions, deepest: number): string | null {
  const { steps, outline } = readArm(arm);
  const fusion = steps.map((step) => step.reach(outline)).find((reach) => reach !== null);
  if (fusion === undefined) return null;
  try {
    const barred = fusion.compute().filter(({ agreeing }) => agreeing > deepest);
    if (barred.length === 0) return null;
    const remedy =
      fusion.k === null
        ? 'raise the weights of these lists'
        : `raise the weights of these lists or lower k of ${fusion.method}, now ${fusion.k}`;
    return `best rank of a turn that one list alone finds, if the other lists agree and if they share no turn: ${barred.map(describeRanks).join(', ')}; the metrics read the top ${deepest}, so ${remedy}`;
  } catch (error) {
    if (!(error instanceof RagPlusPlusError)) throw error;
    // A fusion of a plugin may refuse lists that no query has; that does not end a run.
    return `the best ranks under ${fusion.method} were not computed, ${error.code}: ${error.message}`;
  }
}

/**
 * A warning for each arm with a list that cannot bring a turn of its own to the ranks that are measured. Null controls
 * and repetitions fuse as the arm that they repeat, and have none of their own.
 */
export function findReachWarnings(
  arms: readonly ArmOptions[],
  evaluation: Pick<ExperimentConfig['evaluation'], 'metrics' | 'depth'>,
): ProtocolWarning[] {
  const deepest = findDeepestRank(evaluation);
  return arms
    .filter(({ control, repeats }) => control === null && repeats === null)
    .flatMap((arm) => {
      const text = describeArmReach(arm, deepest);
      return text === null ? [] : [describeWarning('unreachable-list', arm.name, text)];
    });
}

/**
 * The warnings of a run: of its arms, then of its data.
 *
 * @param runs the rankings by the name of the arm.
 * @param queries the measured ones.
 */
export async function findRunWarnings(
  runner: ArmRunner,
  { evaluation }: ExperimentConfig,
  records: readonly ArmRecord[],
  runs: ReadonlyMap<string, Run>,
  queries: readonly Query[],
): Promise<ProtocolWarning[]> {
  const arms = records.map(({ options }) => options);
  return [
    ...findReachWarnings(arms, evaluation),
    ...findFilterWarnings(arms, runner.dataset),
    ...(await findRunFileWarnings(runner, records, queries)),
    ...findTiedEndWarnings(runs, queries),
    ...describeUnknownTurns(runner.dataset),
    ...describeSmallStrata(queries.map(({ kind }) => kind)),
  ];
}
