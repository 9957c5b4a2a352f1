import * as tf from '@tensorflow/tfjs-core';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { PAGERANK_SOLVERS } from '../../ops/pagerank/pagerank-registry.ts';
import { ConceptGraph } from '../graph/concept-graph.ts';
import { drawGraphMemories, WEIGHT_OF_KIND } from '../graph/graph-memories.fixture.ts';
import { GraphMoment } from '../graph/graph-moment.ts';
import { type MomentQuery, MomentScorer } from '../graph/moment-scoring.ts';
import { buildWalkableGraph } from '../graph/walkable-graph.ts';
import { GRAPH_SOLVERS, type GraphIndexOptions, type GraphSolver, graph } from './graph-options.ts';
import { chooseSolver, type SolverChoice, scoreTogether } from './moment-solvers.ts';

const BATCHED = ['host', 'sparse-tensor', 'dense-tensor'] as const;
const describeOptions = (given: object): GraphIndexOptions => graph.options.parse({ index: 'graph', ...given });

/** Queries on a graph of memories, each with up to five seeds, at moments of all kinds: `moments` of them in turn. */
function drawMomentQueries(seed: number, memories: number, count: number, moments: number) {
  const concepts = new ConceptGraph();
  concepts.insert(drawGraphMemories(seed, memories));
  const walkable = buildWalkableGraph(concepts, WEIGHT_OF_KIND);
  const { adjacency, memoryOf } = walkable;
  const source = createRandom(seed, 'moment-solvers.test');
  const drawn = Array.from({ length: moments }, (_, i) => {
    const isVisible = Uint8Array.from({ length: memories }, () => (source.uniform() < 0.7 ? 1 : 0));
    return new GraphMoment(adjacency, {
      asOf: 1 + source.integer(memories),
      visible: i % 3 === 1 ? { isVisible, memoryOf } : null,
      scalesMentions: i % 2 === 0,
    });
  });
  const queries = Array.from({ length: count }, (_, i): MomentQuery => {
    const seeds = Array.from(
      { length: source.integer(6) },
      () => [source.integer(adjacency.size), source.uniform()] as const,
    );
    return { moment: drawn[i % moments]!, seeds: new Map(seeds) };
  });
  return { adjacency, queries };
}

/** The scores of each query by node. */
async function score(queries: readonly MomentQuery[], size: number, options: GraphIndexOptions) {
  const found: Map<number, number>[] = [];
  await scoreTogether(new MomentScorer(size), queries, options, (query, { nodes, values }) => {
    found[query] = new Map(nodes.map((node) => [node, values[node]!]));
  });
  return found;
}

function measureDistance(a: ReadonlyMap<number, number>, b: ReadonlyMap<number, number>): number {
  const nodes = new Set([...a.keys(), ...b.keys()]);
  return [...nodes].reduce((sum, node) => sum + Math.abs((a.get(node) ?? 0) - (b.get(node) ?? 0)), 0);
}

test('the choices are the solvers of PageRank, and auto', () => {
  expect([...GRAPH_SOLVERS].sort()).toEqual([...PAGERANK_SOLVERS.names, 'auto'].sort());
});

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each(BATCHED)('%s scores as push does, on random graphs with moments', async (solver) => {
    const before = tf.memory().numTensors;
    const input = fc.record({
      seed: fc.nat(999),
      memories: fc.integer({ min: 2, max: 41 }),
      count: fc.integer({ min: 1, max: 13 }),
      moments: fc.integer({ min: 1, max: 5 }),
      damping: fc.constantFrom(0, 0.3, 0.5, 0.85),
    });
    await fc.assert(
      fc.asyncProperty(input, async ({ seed, memories, count, moments, damping }) => {
        const { adjacency, queries } = drawMomentQueries(seed, memories, count, moments);
        const exact = await score(queries, adjacency.size, describeOptions({ damping, tolerance: 1e-13 }));
        const got = await score(queries, adjacency.size, describeOptions({ damping, solver, tolerance: 1e-6 }));
        expect(got.length).toBe(count);
        for (const [query, scores] of got.entries()) {
          expect(measureDistance(scores, exact[query]!), `query ${query}`).toBeLessThan(2e-6);
          const total = [...scores.values()].reduce((sum, value) => sum + value, 0);
          expect(Math.abs(total - Math.sign(exact[query]!.size))).toBeLessThan(2e-6);
        }
      }),
      { numRuns: 23, seed: 7 },
    );
    expect(tf.memory().numTensors).toBe(before);
  });

  // Elsewhere products of other sizes are added in another order.
  const keepsBits = backend === 'wasm' || backend === 'cpu';
  test.runIf(keepsBits).each(BATCHED)('a query has the scores of %s that it has alone, to the bit', async (solver) => {
    const { adjacency, queries } = drawMomentQueries(3, 61, 17, 4);
    const options = describeOptions({ solver });
    const together = await score(queries, adjacency.size, options);
    for (const [query, own] of queries.entries())
      expect((await score([own], adjacency.size, options))[0]).toEqual(together[query]);
  });

  test.runIf(keepsBits)('a batch that is too large for the device is taken in parts', async () => {
    const { adjacency, queries } = drawMomentQueries(3, 61, 17, 4);
    const many = Array.from({ length: 211 }, (_, i) => queries[i % queries.length]!);
    const options = describeOptions({ solver: 'dense-tensor' });
    const few = await score(queries, adjacency.size, options);
    for (const [i, scores] of (await score(many, adjacency.size, options)).entries())
      expect(scores).toEqual(few[i % queries.length]);
  });
});

test('a query without a visible seed has no scores, a seed with a wrong weight is an error', async () => {
  await useBackend('wasm');
  const { adjacency, queries } = drawMomentQueries(3, 61, 5, 1);
  const [{ moment }] = queries as [MomentQuery];
  for (const solver of BATCHED) {
    const options = describeOptions({ solver });
    expect(await score([{ moment, seeds: new Map() }], adjacency.size, options)).toEqual([new Map()]);
    expect(await score([], adjacency.size, options)).toEqual([]);
    const wrong = score([{ moment, seeds: new Map([[0, -1]]) }], adjacency.size, options);
    await expect(wrong).rejects.toThrow(ValidationError);
  }
});

test('a score that is no number is an error', async () => {
  await useBackend('wasm');
  const { adjacency, queries } = drawMomentQueries(3, 61, 5, 1);
  const options = { ...describeOptions({ solver: 'sparse-tensor' }), damping: Number.POSITIVE_INFINITY };
  await expect(score(queries, adjacency.size, options)).rejects.toThrow(NotFiniteError);
});

describe('auto', () => {
  const base: SolverChoice = {
    backend: 'wasm',
    nodes: 5000,
    entries: 50_000,
    queries: 32,
    moments: 1,
    tolerance: 1e-6,
  };
  test.each<[string, Partial<SolverChoice>, GraphSolver]>([
    ['queries of one moment on the processor', {}, 'host'],
    ['TensorFlow on the processor', { backend: 'node' }, 'host'],
    ['few queries of a moment', { queries: 7 }, 'push'],
    ['a moment for each query', { queries: 256, moments: 256 }, 'push'],
    ['eight queries of each moment', { queries: 32, moments: 4 }, 'host'],
    ['a large graph on the processor', { entries: 2 ** 19 + 1 }, 'push'],
    ['a card', { backend: 'cuda' }, 'sparse-tensor'],
    ['a small graph on a card', { backend: 'webgpu', nodes: 4096 }, 'dense-tensor'],
    ['a small graph of several moments on a card', { backend: 'cuda', nodes: 4096, moments: 2 }, 'sparse-tensor'],
    ['a card with little to do', { backend: 'cuda', queries: 8 }, 'host'],
    ['a query alone on a card', { backend: 'cuda', queries: 1 }, 'push'],
    ['a tolerance that float32 does not keep, on a card', { backend: 'cuda', tolerance: 1e-9 }, 'host'],
  ])('%s', (_, given, expected) => {
    expect(chooseSolver({ ...base, ...given })).toBe(expected);
  });

  test('takes the chosen solver, to the bit', async () => {
    await useBackend('wasm');
    const { adjacency, queries } = drawMomentQueries(3, 61, 17, 1);
    const by = (solver: GraphSolver, some = queries) => score(some, adjacency.size, describeOptions({ solver }));
    expect(await by('auto')).toEqual(await by('host'));
    expect(await by('auto', queries.slice(0, 3))).toEqual(await by('push', queries.slice(0, 3)));
    expect(await by('auto', [])).toEqual([]);
  });
});

describe('the option solver', () => {
  test('is left out of a config that does not give it', () => {
    expect(Object.keys(describeOptions({}))).not.toContain('solver');
  });

  test.each([
    [{ solver: 'host', scoring: 'degree' }, /push unless scoring is pagerank/],
    [{ solver: 'auto', scoring: 'hop-decay' }, /push unless scoring is pagerank/],
    [{ solver: 'torus' }, /solver/],
    [{ solver: 'sparse-tensor', tolerance: 1e-8 }, /at least 1e-7 with a solver of tensors/],
  ])('refuses %j', (given, message) => {
    expect(() => describeOptions(given)).toThrow(message);
  });

  test('push is allowed with any scoring', () => {
    expect(describeOptions({ solver: 'push', scoring: 'degree' }).solver).toBe('push');
  });
});
