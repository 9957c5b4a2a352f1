import { z } from 'zod';
import { getOrCompute } from '../../src/core/values/once.ts';
import { BM25_DEFAULTS } from '../../src/index/words/bm25.ts';
import { definePlugin } from '../../src/lab/plugins/plugin.ts';
import type { Query } from '../../src/model/dataset.ts';
import { findEntities } from '../../src/model/text/entities.ts';
import { HostPageRank } from '../../src/ops/pagerank/host-pagerank.ts';
import { buildTransitionsFromEdges, type TransitionMatrix } from '../../src/ops/pagerank/transition-matrix.ts';
import { bm25Signal } from '../../src/rank/signals/bm25.ts';
import type { World } from '../../src/rank/signals/signal.ts';
import type { CandidatePool } from '../../src/rank/signals/stage.ts';

/** What links two turns of a conversation. */
export const LINKS = ['replies', 'names'] as const;

interface PageRankUse {
  readonly links: (typeof LINKS)[number];
  readonly damping: number;
  /** Share of PageRank in the score. */
  readonly weight: number;
}

interface Link {
  readonly from: number;
  readonly to: number;
}

/** Replies, in both directions. @param positions of a conversation's turns, all earlier than the query */
function listReplyLinks({ corpus }: World, positions: readonly number[]): Link[] {
  const nodes = new Map(positions.map((position, node) => [position, node]));
  return positions.flatMap((position, from) => {
    const to = nodes.get(corpus.parent[position] as number);
    return to === undefined ? [] : [{ from, to }];
  });
}

/** Turns that share a name. */
function listNameLinks({ corpus }: World, positions: readonly number[]): Link[] {
  const byName = new Map<string, number[]>();
  for (const [node, position] of positions.entries())
    for (const name of findEntities(corpus.turns[position]?.text ?? ''))
      getOrCompute(byName, name, () => []).push(node);
  return [...byName.values()].flatMap((nodes) =>
    nodes.flatMap((from, i) => nodes.slice(i + 1).map((to) => ({ from, to }))),
  );
}

function buildGraph(world: World, positions: readonly number[], links: PageRankUse['links']): TransitionMatrix {
  const found = links === 'replies' ? listReplyLinks(world, positions) : listNameLinks(world, positions);
  const both = [...found, ...found.map(({ from, to }) => ({ from: to, to: from }))];
  return buildTransitionsFromEdges(
    positions.map((_, node) => String(node).padStart(4, '0')),
    {
      sources: Int32Array.from(both, ({ from }) => from),
      targets: Int32Array.from(both, ({ to }) => to),
      weights: new Float64Array(both.length).fill(1),
    },
  );
}

/** Walks start at turns by their BM25, and at the query's anchor as if it were the best of them. */
function seedWalk({ corpus }: World, query: Query, positions: readonly number[], scores: readonly number[]) {
  const anchor = query.anchorTurnId === null ? -1 : corpus.getPosition(query.anchorTurnId);
  const best = Math.max(...scores);
  const seeds = scores.map((score, node) => score + (positions[node] === anchor ? best : 0));
  return new Map(seeds.flatMap((seed, node) => (seed > 0 ? [[String(node).padStart(4, '0'), seed] as const] : [])));
}

/** PageRank of the candidates of one query, in the order of the pool's row. */
async function rankRow(
  world: World,
  query: Query,
  positions: readonly number[],
  scores: readonly number[],
  use: PageRankUse,
) {
  const seeds = seedWalk(world, query, positions, scores);
  if (seeds.size === 0) return scores.map(() => 0);
  const solver = new HostPageRank(buildGraph(world, positions, use.links), { damping: use.damping });
  try {
    return [...(await solver.solve([seeds])).scores];
  } finally {
    solver.dispose();
  }
}

/** Row-major [Q, C]. */
async function computeRanks(world: World, pool: CandidatePool, scores: Float32Array, use: PageRankUse) {
  const ranks = new Float32Array(scores.length);
  for (const [q, query] of world.queries.entries()) {
    const first = q * pool.width;
    const positions = [...pool.positions.subarray(first, first + pool.width)].filter((position) => position >= 0);
    const row = [...scores.subarray(first, first + positions.length)];
    ranks.set(await rankRow(world, query, positions, row, use), first);
  }
  return ranks;
}

/** `(1 - w) bm25 / row maximum + w rank / row maximum`, as the other mechanisms are blended. */
function blendRows(scores: Float32Array, ranks: Float32Array, width: number, weight: number): Float32Array {
  const blended = new Float32Array(scores.length);
  for (let first = 0; first < scores.length; first += width) {
    const [most, highest] = [scores, ranks].map(
      (column) => Math.max(...column.subarray(first, first + width)) || 1,
    ) as [number, number];
    for (let at = first; at < first + width; at++)
      blended[at] = ((1 - weight) * (scores[at] as number)) / most + (weight * (ranks[at] as number)) / highest;
  }
  return blended;
}

/** BM25 blended with personalised PageRank over the turns of the conversation before the query. */
export const pageRankPlugin = definePlugin({
  name: 'planted-page-rank',
  version: 1,
  module: import.meta.url,
  signals: [
    {
      name: 'pagerank',
      summary: 'BM25 blended with personalised PageRank over replies or shared names',
      options: {
        links: z.enum(LINKS).default('replies'),
        damping: z.number().min(0).lt(1).default(0.85),
        weight: z.number().min(0).max(1).default(0.3),
      },
      reads: ['texts', 'times', 'replies'],
      indexes: ['bm25'],
      async compute({ world, pool }, options) {
        const use = options as unknown as PageRankUse;
        const scores = await world.get(bm25Signal({ index: 'bm25', k: pool.width, ...BM25_DEFAULTS }), pool);
        const ranks = await world.keepOnce(['planted page rank', pool.stage.key, use.links, use.damping], () =>
          computeRanks(world, pool, scores, use),
        );
        return blendRows(scores, ranks, pool.width, use.weight);
      },
    },
  ],
});
