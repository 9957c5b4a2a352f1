import type { WorkGroup } from './work.ts';

/**
 * By name, that of the pair of files in bench/peers/works: NAME.ts is our side and the comparison, NAME.py the peers. A
 * new group is such a pair, a line here, and the lines for its table in docs/performance.md. Groups are imported on
 * demand, so that a process holds its own alone.
 */
export const WORK_GROUPS = {
  trec: async () => (await import('./works/trec.ts')).trec,
  fusion: async () => (await import('./works/fusion.ts')).fusion,
  bm25: async () => (await import('./works/bm25.ts')).bm25,
  vectors: async () => (await import('./works/vectors.ts')).vectors,
  ring: async () => (await import('./works/ring.ts')).ring,
  pagerank: async () => (await import('./works/pagerank.ts')).pagerank,
  rerank: async () => (await import('./works/rerank.ts')).rerank,
  learning: async () => (await import('./works/learning.ts')).learning,
  memory: async () => (await import('./works/memory.ts')).memory,
} as const satisfies Record<string, () => Promise<WorkGroup>>;
export type WorkGroupName = keyof typeof WORK_GROUPS;
export const WORK_GROUP_NAMES = Object.keys(WORK_GROUPS) as WorkGroupName[];
