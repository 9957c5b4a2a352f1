import { join } from 'node:path';
import { loadDataset } from '../../src/data/registry.ts';
import { type Estimate, groupIntoClusters, meanIntervals } from '../../src/eval/intervals/mean-intervals.ts';
import { evaluate } from '../../src/eval/metrics/evaluate.ts';
import { computePairedDifferences } from '../../src/eval/significance/paired-differences.ts';
import { createIndex } from '../../src/index/registry.ts';
import { Kernel } from '../../src/kernel/authority/kernel.ts';
import { SliceVerifier } from '../../src/kernel/client/slice-verifier.ts';
import type { SlicePolicy } from '../../src/kernel/policies/policy.ts';
import { formatPolicyRef } from '../../src/kernel/policies/policy-ref.ts';
import { generateKey } from '../../src/kernel/signatures/kernel-keys.ts';
import type { SliceScope } from '../../src/kernel/signatures/slice-export.ts';
import { describeTestSplit, type TestSplit } from '../../src/lab/measure/passport.ts';
import type { CandidateIndex, QueryBatch } from '../../src/model/candidates.ts';
import type { Dataset, Query } from '../../src/model/dataset.ts';
import type { Corpus } from '../../src/model/turns/corpus.ts';
import { listAskedConversations } from '../../src/rank/signals/subcorpus.ts';
import { disturbSlices } from '../../src/rank/signals/worlds/disturbed-world.ts';
import type { StudyContext } from '../study.ts';
import type { HierarchySettings, HierarchyTask } from './settings.ts';

export const METRICS = ['ndcg@10', 'recall@10'];
const DEPTH = 100;

/** The turns that each query may see, ascending. */
type Lists = readonly Int32Array[];

/** Searches for all queries, each in its list. @returns the positions of each query, best first. */
type Search = (visible: Lists | null) => Promise<{ positions: number[]; scores: number[] }[]>;

const scopeOf = ({ anchorTurnId, conversationId, author, channel }: Query): SliceScope => ({
  ...{ anchorTurnId, author, channel },
  conversationId: conversationId ?? null,
});

function createSearch(index: CandidateIndex, batch: QueryBatch): Search {
  return async (visible) => {
    const found = await index.search({ ...batch, ...(visible && { visible }) }, DEPTH);
    return Array.from(batch.cutoffs, (_, row) => {
      const [start, end] = [row * DEPTH, (row + 1) * DEPTH];
      const positions = [...found.positions.subarray(start, end)].filter((position) => position >= 0);
      return { positions, scores: [...found.scores.subarray(start, start + positions.length)] };
    });
  };
}

/** Slices of both levels, each signed by a kernel and verified with its public key, as of the moment of its query. */
async function sliceAll(
  corpus: Corpus,
  queries: readonly Query[],
  policy: SlicePolicy,
  search: Search,
): Promise<Lists> {
  const kernel = new Kernel({ corpus, policies: [policy], keys: { keys: [generateKey()] }, allowAsOf: true });
  const verifier = new SliceVerifier({ corpus, publicKeys: kernel.keys.map(({ publicKey }) => publicKey) });
  const policyRef = formatPolicyRef(policy);
  const firsts = [];
  for (const query of queries) {
    const [scope, asOf] = [scopeOf(query), query.timestamp];
    const slice = await kernel.slice({ policyRef, scope, asOf });
    firsts.push(verifier.verify(slice, { policy, scope, asOf, first: null }, asOf));
  }
  if (policy.hierarchy === null) return firsts.map(({ positions }) => positions);
  const found = await search(firsts.map(({ positions }) => positions));
  const lists: Int32Array[] = [];
  for (const [row, first] of firsts.entries()) {
    const [scope, asOf] = [scopeOf(queries[row]!), queries[row]!.timestamp];
    const around = found[row]!.positions.slice(0, policy.hierarchy.around).map(
      (position) => corpus.turns[position]!.id,
    );
    if (first.slice.anchorTurnId === null || around.length === 0) {
      lists.push(first.positions);
      continue;
    }
    const slice = await kernel.slice({ policyRef, scope, asOf, refine: { slice: first.slice, around } });
    const second = verifier.verify(slice, { policy, scope, asOf, first }, asOf);
    lists.push(Int32Array.from(new Set([...first.positions, ...second.positions])).sort());
  }
  return lists;
}

/** As many of the newest turns as each list has: what of a gain is due to recency. */
const takeNewest = (lists: Lists, corpus: Corpus, queries: readonly Query[]): Lists =>
  disturbSlices(lists, { corpus, queries, control: { kind: 'newest-slices', seed: null }, controlSeed: () => 0 });

/** What one arm finds. */
export interface Row {
  readonly arm: string;
  readonly meanTurns: number | null;
  /** Of the relevant turns, how many are in no list. */
  readonly inadmissible: number;
  readonly metrics: readonly Estimate[];
  /** From one level. */
  readonly differences: readonly Estimate[] | null;
}

function countInadmissible({ corpus, qrels, relevantGrade }: Dataset, queries: readonly Query[], lists: Lists): number {
  return queries.reduce((total, { id }, row) => {
    const seen = new Set(lists[row]);
    const relevant = [...(qrels.get(id) ?? [])].filter(([, grade]) => grade >= relevantGrade);
    return total + relevant.filter(([turn]) => !seen.has(corpus.getPosition(turn))).length;
  }, 0);
}

/** What slices find on one dataset. */
export interface TaskFigures {
  readonly dataset: string;
  readonly hash: string;
  /** Null where dev queries were measured. */
  readonly tested: TestSplit | null;
  readonly queries: number;
  readonly conversations: number;
  readonly relevant: number;
  readonly rows: readonly Row[];
}

/** The queries of a dataset, with what searches and rates their lists. */
class AskedDataset {
  readonly dataset: Dataset;
  readonly queries: readonly Query[];
  readonly search: Search;
  readonly conversations: number;
  readonly #estimate: (columns: readonly ArrayLike<number>[]) => Estimate[];
  #base: readonly (readonly number[])[] | null = null;

  constructor(
    dataset: Dataset,
    queries: readonly Query[],
    index: CandidateIndex,
    { samples, seed }: HierarchySettings,
  ) {
    const { corpus } = dataset;
    this.dataset = dataset;
    this.queries = queries;
    this.search = createSearch(index, {
      ids: queries.map(({ id }) => id),
      texts: queries.map(({ text }) => text),
      vectors: new Float32Array(0),
      cutoffs: Int32Array.from(queries, ({ timestamp }) => corpus.countEarlierTurns(timestamp)),
      conversations: listAskedConversations(corpus, queries),
    });
    const clusters = groupIntoClusters(queries.map(({ cluster }) => cluster));
    this.conversations = clusters.sizes.length;
    this.#estimate = (columns) => meanIntervals(columns, clusters, { samples, seed });
  }

  async #rate(lists: Lists | null): Promise<(readonly number[])[]> {
    const { corpus, qrels, relevantGrade } = this.dataset;
    const found = await this.search(lists);
    const run = new Map(
      this.queries.map(({ id }, row) => {
        const { positions, scores } = found[row]!;
        return [id, positions.map((position, i) => ({ id: corpus.turns[position]!.id, score: scores[i]! }))];
      }),
    );
    const judged = new Map(this.queries.map(({ id }) => [id, qrels.get(id) ?? new Map<string, number>()]));
    const { values } = evaluate(run, judged, METRICS, { relevantGrade, unanswerable: 'count', holeDepth: 10 });
    return METRICS.map((metric) => values[metric]!);
  }

  /** A row, whose differences are from the first that was made. */
  async describe(arm: string, lists: Lists | null): Promise<Row> {
    const columns = await this.#rate(lists);
    const from = this.#base;
    this.#base ??= columns;
    return {
      arm,
      meanTurns: lists && lists.reduce((sum, { length }) => sum + length, 0) / lists.length,
      inadmissible: lists === null ? 0 : countInadmissible(this.dataset, this.queries, lists),
      metrics: this.#estimate(columns),
      differences: from && this.#estimate(columns.map((values, i) => computePairedDifferences(values, from[i]!))),
    };
  }
}

/** Slices of one level and of two, each beside as many of the newest turns, and all turns. */
export async function measureLevels(
  { dataset: options, split, policy }: HierarchyTask,
  settings: HierarchySettings,
  { cacheFolder, progress }: StudyContext,
): Promise<TaskFigures> {
  const { limitQueries, coarseShares, around } = settings;
  const dataset = await loadDataset(options, { cacheFolder: join(cacheFolder, 'datasets'), progress });
  const { corpus } = dataset;
  const queries = dataset.queries.filter((query) => query.split === split).slice(0, limitQueries ?? undefined);
  const index = await createIndex({ index: 'bm25', dropStopWords: true, stem: 'english' }, { corpus });
  const asked = new AskedDataset(dataset, queries, index, settings);
  const arms: [string, SlicePolicy][] = [
    ['one level', policy],
    ...coarseShares.map((coarseShare): [string, SlicePolicy] => [
      `two levels, ${coarseShare} for conversations`,
      { ...policy, hierarchy: { coarseShare, around } },
    ]),
  ];
  const bar = progress(`arms on ${dataset.name}`, arms.length);
  const rows: Row[] = [];
  for (const [arm, one] of arms) {
    const lists = await sliceAll(corpus, queries, one, asked.search);
    rows.push(await asked.describe(arm, lists));
    rows.push(await asked.describe(`${arm}, newest turns instead`, takeNewest(lists, corpus, queries)));
    bar.update(rows.length / 2);
  }
  rows.push(await asked.describe('all turns', null));
  index.dispose();
  bar.finish();
  const { name, hash } = dataset;
  const none = queries.map(() => new Int32Array());
  const relevant = countInadmissible(dataset, queries, none);
  const tested = describeTestSplit(dataset, queries);
  return { dataset: name, hash, tested, queries: queries.length, conversations: asked.conversations, relevant, rows };
}
