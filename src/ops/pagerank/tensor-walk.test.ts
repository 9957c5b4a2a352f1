import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { transpose } from '../../core/linear/sparse-matrix.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { uploadMatrix } from './dense-tensor-pagerank.ts';
import { buildHandmadeMatrix, drawSampleGraph, drawSeedQueries, solveExactPageRank } from './pagerank.oracle.ts';
import { countWalkSteps } from './pagerank-solver.ts';
import { buildSeedDistributions } from './seed-distribution.ts';
import { uploadEdges } from './sparse-tensor-pagerank.ts';
import type { DeviceTransitions } from './tensor-pagerank.ts';
import { walkFromSeeds } from './tensor-walk.ts';

const graph = drawSampleGraph();
const matrix = buildHandmadeMatrix(graph);
const nodes = matrix.nodeIds.length;
const sets = drawSeedQueries(13);
const seeds = buildSeedDistributions(matrix, sets);

const dangling = Float32Array.from({ length: nodes }, (_, node) => (matrix.dangling.includes(node) ? 1 : 0));

/** The transitions times damping, by where they lead. */
function dampIncoming(damping: number) {
  const incoming = transpose(matrix.probabilities);
  return { ...incoming, values: incoming.values.map((probability) => damping * probability) };
}

/** Each query's own copy of the probabilities, as of queries that see other edges. */
function uploadCopies(damping: number, copies: number): DeviceTransitions {
  const { offsets, columnOf, values } = dampIncoming(damping);
  const targets = Int32Array.from(columnOf.keys(), (edge) => offsets.findLastIndex((begin) => begin <= edge));
  const probabilities = Float32Array.from(
    { length: values.length * copies },
    (_, i) => values[Math.floor(i / copies)]!,
  );
  return uploadEdges({ nodes, sources: columnOf, targets, probabilities });
}

const UPLOADS: Readonly<Record<string, (damping: number, queries: number) => DeviceTransitions>> = {
  'a full matrix': (damping) => uploadMatrix(dampIncoming(damping)),
  'a list of edges': (damping) => uploadCopies(damping, 1),
  'a list of edges, probabilities for each query': uploadCopies,
};

async function walk(name: string, queries: typeof seeds, damping = 0.5, tolerance = 1e-6): Promise<Float32Array> {
  const transitions = UPLOADS[name]!(damping, queries.length);
  try {
    return await walkFromSeeds(transitions, queries, { nodes, dangling }, { damping, tolerance });
  } finally {
    transitions.dispose();
  }
}

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  describe.each(Object.keys(UPLOADS))('over %s', (name) => {
    test.each([0, 0.5, 0.9])('the scores are those of the linear system at damping %f', async (damping) => {
      const ranks = await walk(name, seeds, damping);
      for (const [query, set] of sets.entries()) {
        const exact = solveExactPageRank(graph, set, damping);
        const distance = matrix.nodeIds.reduce(
          (sum, id, node) => sum + Math.abs(ranks[node * sets.length + query]! - exact.get(id)!),
          0,
        );
        expect(distance, `query ${query}`).toBeLessThan(2e-6); // the tolerance, and float32
      }
    });

    // Elsewhere products of other sizes are added in another order.
    test.runIf(backend === 'wasm' || backend === 'cpu')(
      'a query has the scores that it has alone, to the bit',
      async () => {
        const together = await walk(name, seeds);
        for (const query of [0, 7, 12]) {
          const alone = await walk(name, [seeds[query]!]);
          expect(together.filter((_, i) => i % seeds.length === query)).toEqual(alone);
        }
      },
    );
  });

  test('a tolerance is kept, and no more steps are taken than it needs by much', async () => {
    const exact = solveExactPageRank(graph, sets[3]!, 0.8);
    for (const tolerance of [0.1, 1e-3, 1e-5]) {
      const ranks = await walk('a list of edges', [seeds[3]!], 0.8, tolerance);
      const distance = matrix.nodeIds.reduce((sum, id, node) => sum + Math.abs(ranks[node]! - exact.get(id)!), 0);
      expect(distance).toBeLessThanOrEqual(tolerance);
    }
    expect(
      [0, 0.5, 0.5, 0.9].map((damping, i) => countWalkSteps({ damping, tolerance: [1, 1, 1e-6, 1e-6][i]! })),
    ).toEqual([1, 1, 21, 138]);
  });

  test('the scores alone are read from the device, once', async () => {
    const engine = tf.engine();
    const { read: before } = engine;
    const read = before.bind(engine);
    let count = 0;
    Object.assign(engine, {
      read: (...parameters: Parameters<typeof read>) => {
        count++;
        return read(...parameters);
      },
    });
    try {
      await walk('a full matrix', seeds);
    } finally {
      Object.assign(engine, { read: before }); // which counts
    }
    expect(count).toBe(1);
  });
});
