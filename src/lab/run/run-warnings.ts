import { RagPlusPlusError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { findNearestWord } from '../../core/validation/validation.ts';
import { parseMetric } from '../../eval/metrics/metric.ts';
import { recallAt } from '../../index/candidates/recall.ts';
import type { IndexOptions } from '../../index/registry.ts';
import type { RunIndexOptions } from '../../index/runs/run-options.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { isOwnField, listFilterFields } from '../../model/filter/filter.ts';
import { parseFilter } from '../../model/filter/parse-filter.ts';
import type { Run } from '../../model/run.ts';
import type { Scored } from '../../model/turns/tie-rule.ts';
import type { ListReach } from '../../ops/fusion/reach.ts';
import { candidatesFrom } from '../../rank/retrieval/candidate-sources.ts';
import { listOriginsOfArm, type RankOptions, readArm } from '../../rank/retrieval/written-steps.ts';
import type { WeightsOrigin } from '../../rank/signals/signal-options.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import type { ArmOptions, ExperimentConfig } from '../config/config-schema.ts';
import type { Measurement } from '../measure/measurement.ts';
import { groupContentHashes, type QueriedCorpus } from '../measure/passport.ts';
import type { ProtocolWarning } from '../measure/result.ts';
import { describeSmallStrata, describeUnknownTurns, describeWarning, joinExamples } from '../measure/warning.ts';
import type { ArmRecord, Outcomes } from './arm-record.ts';
import type { ArmRunner } from './arm-runner.ts';
import { listAttributes, listFilterTexts } from './needed-data.ts';
import type { ArmEncoding } from './workspaces.ts';

/** The sources whose answers may differ from the exact index's. */
export function listApproximateSources(arm: RankOptions): IndexOptions[] {
  return readArm(arm)
    .outline.sources.map(({ index }) => index)
    .filter((source) => 'efSearch' in source && !('method' in source && source.method === 'none'));
}

/** The candidates that the exact index finds in the place of a source of an arm. */
export function exactCandidatesOfArm(arm: RankOptions, { k }: IndexOptions) {
  const { filter, slice } = readArm(arm).outline.view;
  return candidatesFrom({ index: 'flat', k }, null, filter, [], slice);
}

/** Ids that a sentence names before it breaks off. */
const SHOWN = 5;

/** The share of the exact index's results that an approximate index finds. */
async function describeIndexRecall(workspace: Workspace, source: IndexOptions, arm: RankOptions): Promise<string> {
  const oracle = await workspace.get(exactCandidatesOfArm(arm, source));
  const { filter, slice } = readArm(arm).outline.view;
  const found = await workspace.get(candidatesFrom(source, null, filter, [], slice));
  const depths = [...new Set([Math.min(10, source.k), source.k])];
  const figures = depths.map((depth) => `recall@${depth} ${recallAt(depth, found, oracle).toFixed(4)}`);
  return `${figures.join(', ')} (${workspace.queries.length} queries)`;
}

/** The part of a runner that remarks are about. */
interface RemarkSource {
  readonly queries: readonly Query[];
  readonly dataset: Pick<Dataset, 'corpus' | 'qrels'>;
  openArmWorkspace(arm: ArmEncoding): Promise<Workspace>;
}

/** The turns that the sources of an arm see: its filter, and the policy of its slice. */
function listViewParts(arm: RankOptions): unknown[] {
  const { filter, slice } = readArm(arm).outline.view;
  return [filter, slice?.policy ?? null];
}

/**
 * The recall of each approximate index that an arm has used. If a damaged stage prevents the measurement, the remark
 * states this, since the arms are done.
 */
async function recallRemarks(runner: RemarkSource, records: readonly ArmRecord[]): Promise<string[]> {
  const used = records.flatMap(({ options }) => listApproximateSources(options).map((source) => ({ source, options })));
  const sources = new Map(
    used.map(({ source, options }) => [
      computeHash([source, options.embedding, options.seed, listViewParts(options)]),
      { source, arm: options },
    ]),
  );
  const remarks: string[] = [];
  for (const { source, arm } of sources.values()) {
    const workspace = await runner.openArmWorkspace(arm);
    const recall = await describeIndexRecall(workspace, source, arm).catch((error: unknown) => {
      if (!(error instanceof RagPlusPlusError)) throw error;
      return `not measured, ${error.code}: ${error.message}`;
    });
    const isOwn = arm.embedding !== null || arm.seed !== null || listViewParts(arm).some((part) => part !== null);
    remarks.push(`${source.index}${isOwn ? ` of ${arm.name}` : ''} against the exact index: ${recall}`);
  }
  return remarks;
}

/** The origin of learned numbers, and the name of the arm or encoder that has them. */
interface NamedOrigin {
  readonly name: string;
  readonly origin: Pick<WeightsOrigin, 'file' | 'trainingContents'>;
}

/** The origins of the token weights of a config's encoders. */
async function listTokenOrigins({ embedding }: ExperimentConfig, arms: readonly ArmRecord['options'][]) {
  const own = arms.flatMap(({ name, embedding: given }) => (given === null ? [] : [{ name, given }]));
  const origins: NamedOrigin[] = [];
  for (const { name, given } of [{ name: 'embedding', given: embedding }, ...own]) {
    if (given.encoder !== 'bert' || given.tokenWeights === undefined) continue;
    const { readTokenWeights } = await import('../../index/encoders/token-weights.ts');
    const { trainingContents } = readTokenWeights(given.tokenWeights).provenance;
    origins.push({ name, origin: { file: given.tokenWeights, trainingContents } });
  }
  return origins;
}

/**
 * For each arm with learned weights, the number of measured conversations that its weights were trained on: its figures
 * there are not a test. Conversations are compared by their contents, since two collections may use one id for
 * different conversations.
 *
 * @param others besides those of the arms.
 */
export function describeTrainingOverlap(
  arms: readonly ArmRecord['options'][],
  measured: QueriedCorpus,
  others: readonly NamedOrigin[] = [],
): string[] {
  const own = arms.flatMap((arm) => listOriginsOfArm(readArm(arm)).map((origin) => ({ name: arm.name, origin })));
  const origins: NamedOrigin[] = [...own, ...others];
  if (origins.length === 0) return [];
  const contents = groupContentHashes(measured);
  return origins.flatMap(({ name, origin: { file, trainingContents } }) => {
    if (trainingContents === undefined)
      return [
        `weights of ${name} hold no content hashes, so whether they were trained on these conversations is unknown; train them again: ${file}`,
      ];
    const trained = new Set(trainingContents);
    const seen = [...contents.values()].filter((hashes) => hashes.some((hash) => trained.has(hash))).length;
    if (seen === 0) return [];
    return [`weights of ${name} were trained on ${seen} of these ${contents.size} conversations: no test of them`];
  });
}

/** The remarks below the table. */
export async function collectRemarks(
  runner: RemarkSource,
  config: ExperimentConfig,
  { unanswerable }: Measurement,
  { records, failures }: Outcomes,
): Promise<string[]> {
  const { queries, dataset } = runner;
  const { baseline } = config.evaluation;
  const remarks = await recallRemarks(runner, records);
  const options = records.map((record) => record.options);
  const measured = { corpus: dataset.corpus, queries, qrels: dataset.qrels };
  remarks.push(...describeTrainingOverlap(options, measured, await listTokenOrigins(config, options)));
  const shown = `${unanswerable
    .slice(0, SHOWN)
    .map(({ id }) => id)
    .join(', ')}${unanswerable.length > SHOWN ? ', …' : ''}`;
  if (unanswerable.length > 0)
    remarks.push(`${unanswerable.length} queries without a relevant turn are left out: ${shown}`);
  if (failures.some(({ name }) => name === baseline))
    remarks.push(`nothing is compared, since the baseline failed: ${baseline}`);
  return remarks;
}

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
