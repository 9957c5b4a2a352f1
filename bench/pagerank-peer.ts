import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SeedSet } from '../src/ops/pagerank/seed-distribution.ts';
import type { BenchGraph } from './pagerank-graph.ts';
import { type FoundPython, runPeer } from './peers/python.ts';

interface PeerSettings {
  readonly damping: number;
  readonly tolerances: readonly number[];
  readonly maxIterations: number;
  readonly repeats: number;
}

interface PeerResult {
  /** A query at a time, for each query. */
  readonly singleMilliseconds: number;
  /** All queries as one block, for each query. */
  readonly blockMilliseconds: number;
  /** Mean of the queries. */
  readonly iterations: number;
  /** Row-major [B, V] */
  readonly scores: Float64Array;
}

/** The results of scipy on the same graph and queries, for each tolerance. */
export function runScipy(
  python: FoundPython,
  graph: BenchGraph,
  queries: readonly SeedSet[],
  settings: PeerSettings,
): PeerResult[] {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-pagerank-'));
  try {
    const { sources, targets, weights } = graph.edges;
    const position = new Map(graph.nodeIds.map((id, i) => [id, i]));
    const seeds = queries.flatMap((set, query) => Array.from(set, ([id, weight]) => ({ query, id, weight })));
    const files: Record<string, Int32Array | Float64Array> = {
      'sources.i32': sources,
      'targets.i32': targets,
      'weights.f64': weights,
      'seed-queries.i32': Int32Array.from(seeds, ({ query }) => query),
      'seed-nodes.i32': Int32Array.from(seeds, ({ id }) => position.get(id)!),
      'seed-weights.f64': Float64Array.from(seeds, ({ weight }) => weight),
    };
    for (const [name, values] of Object.entries(files)) writeFileSync(join(folder, name), values);
    const sizes = { nodes: graph.nodeIds.length, queries: queries.length };
    writeFileSync(join(folder, 'settings.json'), JSON.stringify({ ...sizes, ...settings }));
    const report = runPeer<Omit<PeerResult, 'scores'>[]>(python, 'pagerank.py', folder);
    return report.map((result, i) => {
      const bytes = readFileSync(join(folder, `scores-${i}.f64`));
      return { ...result, scores: new Float64Array(Uint8Array.from(bytes).buffer) };
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
