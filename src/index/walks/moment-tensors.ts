import { uploadMatrix } from '../../ops/pagerank/dense-tensor-pagerank.ts';
import { RANK_BLOCK, uploadEdges } from '../../ops/pagerank/sparse-tensor-pagerank.ts';
import type { DeviceTransitions } from '../../ops/pagerank/tensor-pagerank.ts';
import { type WalkEnds, walkFromSeeds } from '../../ops/pagerank/tensor-walk.ts';
import {
  countRoom,
  gatherMomentWalks,
  groupByMoment,
  type KeepRanks,
  type MomentWalks,
  markDangling,
  readIncoming,
  type SolveQueries,
  type StartedQuery,
} from '../graph/moment-walks.ts';

/**
 * The full matrix of each moment times the ranks of its queries: V² B multiplications a step. A mask for each query
 * would take V² B numbers instead of V², so queries of different moments are not batched.
 */
export const solveDense: SolveQueries = async (queries, options, keep) => {
  for (const [moment, members] of groupByMoment(queries)) {
    const starts = members.map(({ shares }) => shares);
    const walks = gatherMomentWalks([moment], starts, options.damping);
    const transitions = uploadMatrix(readIncoming(walks));
    try {
      for (let start = 0; start < members.length; start += transitions.batch) {
        const seeds = walks.seeds.slice(start, start + transitions.batch);
        const ranks = await walkFromSeeds(transitions, seeds, readEnds(walks, [0]), options);
        keepColumns(ranks, members.slice(start, start + transitions.batch), walks, keep);
      }
    } finally {
      transitions.dispose();
    }
  }
};

/**
 * Ranks that follow a list of edges: E B multiplications a step. Queries of different moments are batched: the edges of
 * all moments are one list, and each query has its own probabilities, [E, B], 0 for edges that it does not see. Against
 * one moment, [E, 1], this takes E (B - 1) more numbers on the device, uploaded once, and no more operations in a step.
 */
export const solveSparse: SolveQueries = async (queries, options, keep) => {
  if (queries.length === 0) return;
  const room = countRoom([...groupByMoment(queries).keys()]).reduce((sum, edges) => sum + edges, 0);
  const width = Math.max(1, Math.floor(RANK_BLOCK / Math.max(room, 1)));
  for (let start = 0; start < queries.length; start += width) {
    const members = queries.slice(start, start + width);
    const moments = [...groupByMoment(members).keys()];
    const starts = members.map(({ shares }) => shares);
    const walks = gatherMomentWalks(moments, starts, options.damping);
    const columns = moments.length === 1 ? [0] : members.map(({ moment }) => moments.indexOf(moment));
    const transitions = uploadMomentEdges(walks, columns);
    try {
      const ends = readEnds(walks, columns);
      const ranks = await walkFromSeeds(transitions, walks.seeds, ends, options);
      keepColumns(ranks, members, walks, keep);
    } finally {
      transitions.dispose();
    }
  }
};

/** @param columns the moment of each column of marks: one for all queries, or one for each. */
function readEnds(walks: MomentWalks, columns: readonly number[]): WalkEnds {
  const marks = markDangling(walks);
  const [nodes, width] = [walks.nodes.length, columns.length];
  const dangling = new Float32Array(nodes * width);
  for (const i of dangling.keys()) dangling[i] = marks[Math.floor(i / width) * walks.moments + columns[i % width]!]!;
  return { nodes, dangling };
}

/** @param columns the moment of each column of probabilities: one for all queries, or one for each. */
function uploadMomentEdges(
  { nodes, offsets, sources, probabilities, moments }: MomentWalks,
  columns: readonly number[],
): DeviceTransitions {
  const targets = new Int32Array(sources.length);
  for (const position of nodes.keys()) targets.fill(position, offsets[position]!, offsets[position + 1]!);
  const spread = new Float32Array(sources.length * columns.length);
  for (const edge of sources.keys())
    for (const [column, moment] of columns.entries())
      spread[edge * columns.length + column] = probabilities[edge * moments + moment]!;
  return uploadEdges({ nodes: nodes.length, sources, targets, probabilities: spread });
}

/** @param ranks row-major [V, B]. */
function keepColumns(
  ranks: Float32Array,
  members: readonly StartedQuery[],
  { nodes }: MomentWalks,
  keep: KeepRanks,
): void {
  for (const [column, member] of members.entries()) keep(member, nodes, ranks, column, members.length);
}
