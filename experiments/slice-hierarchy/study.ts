import { join } from 'node:path';
import { z } from 'zod';
import { Kernel } from '../../src/admissibility/kernel.ts';
import { generateKey } from '../../src/admissibility/kernel-keys.ts';
import { type SlicePolicy, slicePolicySchema } from '../../src/admissibility/policy.ts';
import { formatPolicyRef } from '../../src/admissibility/policy-ref.ts';
import type { SliceScope } from '../../src/admissibility/slice-export.ts';
import { SliceVerifier } from '../../src/admissibility/slice-verifier.ts';
import { createIndex } from '../../src/candidates/registry.ts';
import { datasetOptions, loadDataset } from '../../src/datasets/registry.ts';
import { groupIntoClusters } from '../../src/evaluation/clusters.ts';
import { evaluate } from '../../src/evaluation/evaluate.ts';
import { type Estimate, meanIntervals } from '../../src/evaluation/mean-intervals.ts';
import { computePairedDifferences } from '../../src/evaluation/paired-differences.ts';
import type { CandidateIndex, QueryBatch } from '../../src/model/candidates.ts';
import type { Corpus } from '../../src/model/corpus.ts';
import type { Dataset, Query } from '../../src/model/dataset.ts';
import { listAskedConversations } from '../../src/signals/subcorpus.ts';
import { disturbSlices } from '../../src/signals/worlds/other-slices.ts';
import type { Study } from '../study.ts';
import { formatPipeTable } from '../text-table.ts';

const METRICS = ['ndcg@10', 'recall@10'];
const DEPTH = 100;

const settings = z.strictObject({
  seed: z.int().default(20260101),
  dataset: datasetOptions.prefault({ name: 'mail-threads' }),
  split: z.enum(['dev', 'test']).default('test'),
  /** The first queries in time order; null: all. */
  limitQueries: z.int().min(2).nullable().default(null),
  /** The policy of one level; those of two levels differ in `hierarchy` alone. */
  policy: slicePolicySchema.prefault({
    id: 'near',
    anchor: 'newest-of-author',
    unanchored: 'channel',
    relationWeight: { author: 0.9, channel: 0.95 },
  }),
  /** The shares of `maxNodes` that whole conversations may take. */
  coarseShares: z.array(z.number().gt(0).lt(1)).min(1).default([0.25, 0.5, 0.75]),
  /** The number of first results that a slice is refined around. */
  around: z.int().min(1).max(100).default(5),
  samples: z.int().min(100).default(10_000),
});

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

interface Row {
  readonly arm: string;
  readonly meanTurns: number | null;
  /** Of the relevant turns, how many are in no list. */
  readonly inadmissible: number;
  readonly metrics: readonly Estimate[];
  /** From one level. */
  readonly differences: readonly Estimate[] | null;
}

const formatNumber = (value: number) => value.toFixed(3).replace(/^(-?)0/, '$1');
const formatEstimate = ({ mean, low, high }: Estimate) =>
  low === null ? formatNumber(mean) : `${formatNumber(mean)} [${formatNumber(low)}, ${formatNumber(high)}]`;

function countInadmissible({ corpus, qrels, relevantGrade }: Dataset, queries: readonly Query[], lists: Lists): number {
  return queries.reduce((total, { id }, row) => {
    const seen = new Set(lists[row]);
    const relevant = [...(qrels.get(id) ?? [])].filter(([, grade]) => grade >= relevantGrade);
    return total + relevant.filter(([turn]) => !seen.has(corpus.getPosition(turn))).length;
  }, 0);
}

/** What slices of two levels find that one level does not, within the same number of turns. */
export const sliceHierarchy: Study<typeof settings> = {
  name: 'slice-hierarchy',
  description: 'slices of whole conversations, refined around the first results, beside slices of one level',
  settings,
  measure: async ({ dataset: options, split, limitQueries, policy, coarseShares, around, samples, seed }, context) => {
    const { cacheFolder, progress } = context;
    const dataset = await loadDataset(options, { cacheFolder: join(cacheFolder, 'datasets'), progress });
    const { corpus, qrels, relevantGrade } = dataset;
    const queries = dataset.queries.filter((query) => query.split === split).slice(0, limitQueries ?? undefined);
    const cutoffs = Int32Array.from(queries, ({ timestamp }) => corpus.countEarlierTurns(timestamp));
    const index = await createIndex({ index: 'bm25', dropStopWords: true, stem: 'english' }, { corpus });
    const texts = queries.map(({ text }) => text);
    const search = createSearch(index, {
      ids: queries.map(({ id }) => id),
      texts,
      vectors: new Float32Array(0),
      cutoffs,
      conversations: listAskedConversations(corpus, queries),
    });
    const judged = new Map(queries.map(({ id }) => [id, qrels.get(id) ?? new Map<string, number>()]));
    const clusters = groupIntoClusters(queries.map(({ cluster }) => cluster));
    const rate = async (lists: Lists | null) => {
      const found = await search(lists);
      const run = new Map(
        queries.map(({ id }, row) => [
          id,
          found[row]!.positions.map((position, i) => ({
            id: corpus.turns[position]!.id,
            score: found[row]!.scores[i]!,
          })),
        ]),
      );
      const { values } = evaluate(run, judged, METRICS, { relevantGrade, unanswerable: 'count', holeDepth: 10 });
      return METRICS.map((metric) => values[metric]!);
    };
    const estimate = (columns: readonly ArrayLike<number>[]) => meanIntervals(columns, clusters, { samples, seed });
    const arms = [
      ['one level', policy] as const,
      ...coarseShares.map(
        (coarseShare) =>
          [`two levels, ${coarseShare} for conversations`, { ...policy, hierarchy: { coarseShare, around } }] as const,
      ),
    ];
    const bar = progress('arms', arms.length);
    const rows: Row[] = [];
    let base: readonly (readonly number[])[] | null = null;
    const add = async (arm: string, lists: Lists | null) => {
      const columns = await rate(lists);
      const from = base;
      rows.push({
        arm,
        meanTurns: lists && lists.reduce((sum, { length }) => sum + length, 0) / lists.length,
        inadmissible: lists === null ? 0 : countInadmissible(dataset, queries, lists),
        metrics: estimate(columns),
        differences: from && estimate(columns.map((values, i) => computePairedDifferences(values, from[i]!))),
      });
      base ??= columns;
    };
    for (const [arm, one] of arms) {
      const lists = await sliceAll(corpus, queries, one, search);
      await add(arm, lists);
      await add(`${arm}, newest turns instead`, takeNewest(lists, corpus, queries));
      bar.update(rows.length / 2);
    }
    await add('all turns', null);
    index.dispose();
    bar.finish();
    const relevant = queries.reduce(
      (sum, { id }) => sum + [...(qrels.get(id) ?? [])].filter(([, grade]) => grade >= relevantGrade).length,
      0,
    );
    const table = {
      head: ['arm', ...METRICS, ...METRICS.map((metric) => `${metric}, from one level`), 'turns', 'inadmissible'],
      rows: rows.map(({ arm, metrics, differences, meanTurns, inadmissible }) => [
        arm,
        ...metrics.map(formatEstimate),
        ...(differences?.map(formatEstimate) ?? METRICS.map(() => '-')),
        meanTurns === null ? 'all' : meanTurns.toFixed(1),
        `${inadmissible} of ${relevant}`,
      ]),
    };
    return {
      dataset: { name: `${dataset.name} ${split}, ${queries.length} queries`, hash: dataset.hash },
      figures: { metrics: METRICS, relevant, rows },
      sections: [
        `BM25 among the turns of slices of at most ${policy.maxNodes} turns. 95 % intervals over ${clusters.sizes.length} conversations.`,
        formatPipeTable(table),
      ],
    };
  },
};
