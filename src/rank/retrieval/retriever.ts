import { ensureBackend } from '../../core/tensors/backend.ts';
import { letEventsIn } from '../../core/terminal/progress.ts';
import type { Query } from '../../model/dataset.ts';
import type { Run } from '../../model/run.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { Scored } from '../../model/turns/tie-rule.ts';
import type { ScoringOptions } from '../signals/bank/options.ts';
import type { CandidatePool, Column } from '../signals/stage.ts';
import type { Workspace } from '../signals/workspace.ts';
import { warmUpSources } from './candidate-sources.ts';
import { type Ranking, rank } from './rank.ts';
import type { StepChange, StepChanges } from './step-changes.ts';
import type { StepInput } from './steps/functions.ts';
import { type Contributions, decomposeMix, ScoreParts } from './steps/score-parts.ts';
import { type PendingScores, type RankState, runUnwatched, type Step, type Watch } from './steps/step.ts';
import { type Arm, checkSteps, parseSteps, type RankOptions, readArm } from './written-steps.ts';

/** The places of each query among N, by their places in the list. */
function groupByQuery(pairs: Int32Array, width: number): Map<number, number[]> {
  const groups = new Map<number, number[]>();
  for (const [n, pair] of pairs.entries()) {
    if (pair < 0) continue;
    const query = Math.floor(pair / width);
    const group = groups.get(query) ?? [];
    group.push(n);
    groups.set(query, group);
  }
  return groups;
}

/** Some rows of contributions. */
function pickRows({ names, values }: Contributions, rows: readonly number[]): Contributions {
  const P = names.length;
  const picked = new Float32Array(rows.length * P);
  for (const [n, row] of rows.entries()) picked.set(values.subarray(row * P, (row + 1) * P), n * P);
  return { names, values: picked };
}

/**
 * Splits the composed scores of an arm into parts that add up to them, as its steps explain them. With relevance r,
 * boost b, decay factor d, weights w of trajectory t and v of attention a, and the maxima of a query's candidates, the
 * score before selection is
 *
 * `s = k r + k r (b - 1) + k r b (d - 1) + m w t + v a / max(a)`, with `k = m (1 - w) / max(r b d)` and `m = (1 - v) /
 * max(s before attention)`.
 *
 * The five terms are relevance, boost, decay (what age takes away, never positive), trajectory and attention; a step
 * that the arm lacks has no term, and leaves its division out. In the place of relevance, a mix has a part for each
 * family of its signals. The arithmetic is float64 over float32 columns, so the sum differs from the score by rounding
 * alone.
 *
 * @param workspace the one that the arm retrieved from.
 * @param pairs [N] among those of the pool, [Q, C]; -1 for none.
 */
export async function decomposeScores(
  workspace: Pick<Workspace, 'under'>,
  { steps, control }: Arm,
  { pool, components }: Retrieved,
  pairs: Int32Array,
): Promise<Contributions> {
  const mixed = steps.find(({ mix }) => mix !== null)?.mix ?? null;
  const readTable = async (options: ScoringOptions) => {
    const { readMixedSignals } = await import('../signals/bank/refitted-signals.ts');
    return readMixedSignals(workspace.under(control), pool, options);
  };
  const mix = mixed === null ? null : decomposeMix(await readTable(mixed), mixed.weights, pairs);
  const explain = (query: number, rows: readonly number[]) => {
    const [start, end] = [query * pool.width, (query + 1) * pool.width];
    const read = (name: string) => Float64Array.from((components.get(name) as Column).subarray(start, end));
    const parts = new ScoreParts(
      read,
      rows.map((n) => (pairs[n] as number) % pool.width),
      mix && pickRows(mix, rows),
    );
    for (const step of steps) step.explain(parts);
    return parts.parts;
  };
  const explained = Array.from(groupByQuery(pairs, pool.width), ([query, rows]) => ({
    rows,
    parts: explain(query, rows),
  }));
  const names = [...(explained[0]?.parts.keys() ?? mix?.names ?? [])];
  const values = new Float32Array(pairs.length * names.length);
  for (const { rows, parts } of explained)
    for (const [p, name] of names.entries())
      for (const [i, n] of rows.entries()) values[n * names.length + p] = parts.get(name)?.[i] as number;
  return { names, values };
}

/** What a retriever made of every query: scores over its pool, and the parts that they were made of. */
export interface Retrieved {
  readonly pool: CandidatePool;
  /** [Q, C] */
  readonly scores: Column;
  /** By name, in the order in which they were applied. */
  readonly components: ReadonlyMap<string, Column>;
}

async function applySteps(
  steps: readonly Step[],
  { outline }: Arm,
  start: RankState,
  watch: Watch,
  changes: StepChanges | null = null,
): Promise<Retrieved> {
  let state = start;
  for (const [i, step] of steps.entries()) {
    const before = state;
    state = await step.apply(before, outline, watch);
    await changes?.see(i, before, state);
  }
  await changes?.finish(state);
  const scores = await (state.scores as PendingScores).read(watch);
  return { pool: state.pool as CandidatePool, scores, components: state.components };
}

/** Nothing has been done yet. */
function createState(workspace: Workspace, { control }: Arm): RankState {
  return { workspace, world: workspace.under(control), pool: null, scores: null, components: new Map() };
}

const isList = (arm: RankOptions | readonly StepInput[]): arm is readonly StepInput[] => Array.isArray(arm);

/**
 * Finds every query's candidates, scores them, and reorders the best of them: one step of the arm after the other.
 *
 * @param arm the list of its steps, or an arm of a config.
 * @param watch receives the components in the order of their computation, each source's candidates within the pool.
 * @throws ConfigurationError for options that are no retriever's.
 */
export async function retrieve(
  workspace: Workspace,
  arm: RankOptions | readonly StepInput[],
  watch: Watch = runUnwatched,
): Promise<Retrieved> {
  const checked = await openArm(isList(arm) ? parseSteps(arm) : arm);
  return applySteps(checked.steps, checked, createState(workspace, checked), watch);
}

async function openArm(options: RankOptions): Promise<Arm> {
  await letEventsIn();
  await ensureBackend();
  return readArm(checkSteps(options));
}

/** Scores candidates that have been found: the steps after the search. */
export async function scorePool(
  workspace: Workspace,
  pool: CandidatePool,
  options: RankOptions,
  watch: Watch = runUnwatched,
): Promise<Retrieved> {
  const arm = readArm(options);
  const found = arm.steps.findIndex(({ gives }) => gives === 'pool');
  const steps = arm.steps.slice(found + 1).filter(({ gives }) => gives !== 'ranking');
  return applySteps(steps, arm, { ...createState(workspace, arm), pool }, watch);
}

/** Builds everything that an arm needs and that does not depend on the queries, for a workspace made `withQueries`. */
export async function warmUp(workspace: Workspace, options: RankOptions): Promise<void> {
  const { steps, outline, control } = readArm(options);
  for (const { mix } of steps)
    if (mix !== null) await (await import('../signals/bank/table-filler.ts')).prepareSignals(workspace, mix.signals);
  const indexes = outline.sources.map(({ index }) => index);
  await warmUpSources(workspace, control, indexes, outline.view.propagation);
}

/** The candidates of an arm for every query of a workspace, and their order. */
export interface ArmRanking {
  readonly retrieved: Retrieved;
  readonly ranking: Ranking;
  /** Absent where they were not counted. */
  readonly changes?: readonly StepChange[];
}

/** The ranks of Q rankings, K each. */
export interface RankedPositions {
  /** K. */
  readonly depth: number;
  /** Row-major [Q, K] corpus positions, best first; -1 if a query has fewer candidates. */
  readonly positions: Int32Array;
  /** Row-major [Q, K]; 0 if the position is -1. */
  readonly scores: Float32Array;
}

/** The parts of the scores of the first I ranks of Q rankings. */
export interface RankedComponents {
  /** The P parts of a score, in the order in which they were applied. */
  readonly componentNames: readonly string[];
  /** Row-major [Q, I, P]: the parts of the scores of the first I ranks. */
  readonly components: Float32Array;
  /** I. */
  readonly inspected: number;
}

/** One source and nothing after it changes nothing. */
const isCounted = ({ names, outline }: Arm) =>
  outline.sources.length > 1 || names.filter((name) => name !== null).length > 1;

async function openStepChanges(...of: ConstructorParameters<typeof StepChanges>): Promise<StepChanges> {
  const { StepChanges } = await import('./step-changes.ts');
  return new StepChanges(...of);
}

/** Ranks every query of a workspace by an arm. @throws as `retrieve` and `rank`. */
export async function rankArm(
  workspace: Workspace,
  arm: RankOptions & { readonly name: string },
  depth: number,
  watch: Watch = runUnwatched,
  countsChanges = false,
): Promise<ArmRanking> {
  const formatRankedPair = (query: number, position: number) =>
    `arm ${arm.name}, query ${workspace.queries[query]?.id}, turn ${workspace.corpus.turns[position]?.id}`;
  const order = (pool: CandidatePool, scores: Column) => rank(pool, scores, depth, formatRankedPair);
  const checked = await openArm(arm);
  const changes = countsChanges && isCounted(checked) ? await openStepChanges(checked, order) : null;
  const retrieved = await applySteps(checked.steps, checked, createState(workspace, checked), watch, changes);
  const ranking = changes?.ranking ?? (await order(retrieved.pool, retrieved.scores));
  return { retrieved, ranking, ...(changes && { changes: changes.counted }) };
}

/** The index of a ranked turn among the pairs of its pool; -1 where the query has fewer candidates. */
function locatePair({ retrieved: { pool }, ranking }: ArmRanking, query: number, rankIndex: number): number {
  const column = ranking.slots[query * ranking.depth + rankIndex] as number;
  return column < 0 ? -1 : query * pool.width + column;
}

/** Row-major [Q, I] the pairs of the first I ranks; -1 where the query has fewer candidates. */
export function listInspectedPairs(arm: ArmRanking, inspect: number): Int32Array {
  const inspected = Math.min(inspect, arm.ranking.depth);
  return Int32Array.from({ length: arm.retrieved.pool.queryCount * inspected }, (_, i) =>
    locatePair(arm, Math.floor(i / inspected), i % inspected),
  );
}

/** The rankings as positions of the corpus. */
export function listRankedPositions(arm: ArmRanking): RankedPositions {
  const { pool, scores } = arm.retrieved;
  const { depth, slots: ranks } = arm.ranking;
  const pairs = ranks.map((_, i) => locatePair(arm, Math.floor(i / depth), i % depth));
  return {
    depth,
    positions: pairs.map((pair) => (pair < 0 ? -1 : (pool.positions[pair] as number))),
    scores: Float32Array.from(pairs, (pair) => (pair < 0 ? 0 : (scores[pair] as number))),
  };
}

/** The parts of the scores at the top of each ranking. */
export function listRankedComponents(arm: ArmRanking, inspect: number): RankedComponents {
  const { pool, components: columns } = arm.retrieved;
  const inspected = Math.min(inspect, arm.ranking.depth);
  const components = new Float32Array(pool.queryCount * inspected * columns.size);
  let next = 0;
  for (let query = 0; query < pool.queryCount; query++) {
    for (let rankIndex = 0; rankIndex < inspected; rankIndex++) {
      const pair = locatePair(arm, query, rankIndex);
      for (const column of columns.values()) components[next++] = pair < 0 ? 0 : (column[pair] as number);
    }
  }
  return { componentNames: [...columns.keys()], components, inspected };
}

/** A query's ranking, best first. */
export function readRanking(corpus: Corpus, { depth, positions, scores }: RankedPositions, query: number): Scored[] {
  const ranking: Scored[] = [];
  for (let i = query * depth; i < (query + 1) * depth && (positions[i] as number) >= 0; i++)
    ranking.push({ id: corpus.turns[positions[i] as number]!.id, score: scores[i] as number });
  return ranking;
}

/** Every query's ranking by query id. */
export function buildRun(corpus: Corpus, queries: readonly Query[], ranked: RankedPositions): Run {
  return new Map(queries.map(({ id }, query) => [id, readRanking(corpus, ranked, query)]));
}
