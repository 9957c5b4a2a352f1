import { describe, expect, test } from 'vitest';
import { runBenchCommand } from './command.harness.ts';
import { formatPageRankTable, type Row } from './pagerank.ts';
import { measureScoreError } from './pagerank-error.ts';
import { benchGraph, benchQueries, GRAPHS } from './pagerank-graph.ts';
import { runScipy } from './pagerank-peer.ts';
import { type FoundPython, findPython } from './peers/python.ts';

const python = findPython(['scipy', 'numpy']);

test.each(GRAPHS)('a %s graph is weighted and depends on the seed', (kind) => {
  const { nodeIds, edges } = benchGraph(kind, 211, 1009, 3);
  expect([...nodeIds].sort()).toEqual(nodeIds);
  expect(Math.max(...edges.sources, ...edges.targets)).toBeLessThan(211);
  expect(new Set(edges.targets).size).toBeGreaterThan(100);
  expect(Math.min(...edges.weights)).toBeGreaterThanOrEqual(0.1);
  expect(benchGraph(kind, 211, 1009, 3)).toEqual({ nodeIds, edges });
  expect(benchGraph(kind, 211, 1009, 4).edges).not.toEqual(edges);
});

test('errors are the largest of a score, the farthest of a query, and the overlap of the ten best', () => {
  const exact = Float64Array.from({ length: 26 }, (_, i) => 13 - (i % 13));
  const scores = exact.slice();
  scores[1]! += 0.25; // changes no order
  scores[13 + 12] = 20; // the worst of the second query becomes its best
  expect(measureScoreError(scores, exact, 13)).toEqual({ largest: 19, distance: 19, overlap: (1 + 0.9) / 2 });
  expect(measureScoreError(exact, exact, 13)).toEqual({ largest: 0, distance: 0, overlap: 1 });
});

test('ratios are against the faster way of the peer at the same tolerance', () => {
  const buildPageRankRow = (name: string, tolerance: number, milliseconds: number): Row => {
    return {
      name,
      tolerance,
      milliseconds,
      iterations: 17,
      error: { largest: 1.25e-9, distance: 1e-8, overlap: 0.98765 },
    };
  };
  const peers = [
    buildPageRankRow('scipy a', 1e-6, 4),
    buildPageRankRow('scipy b', 1e-6, 2),
    buildPageRankRow('scipy a', 1e-10, 8),
  ];
  expect(
    formatPageRankTable(
      [...peers.slice(0, 2), buildPageRankRow('host', 1e-6, 1), buildPageRankRow('push', 1e-3, 0.5)],
      peers,
    ),
  ).toBe(
    [
      'solver   tolerance  ms/query  vs scipy  iterations  max error  L1 error  top-10 overlap',
      '-------  ---------  --------  --------  ----------  ---------  --------  --------------',
      'scipy a       1e-6     4.000     2.00x        17.0     1.3e-9    1.0e-8          0.9877',
      'scipy b       1e-6     2.000     1.00x        17.0     1.3e-9    1.0e-8          0.9877',
      'host          1e-6     1.000     0.50x        17.0     1.3e-9    1.0e-8          0.9877',
      'push          1e-3     0.500         -        17.0     1.3e-9    1.0e-8          0.9877',
    ].join('\n'),
  );
});

test('a Python without a package says what would bring it', () => {
  expect(findPython(['no_such_package'])).toEqual({
    missing: 'python3 does not import no_such_package: apt-get install -y python3-no_such_package',
  });
});

test.skipIf('missing' in python)('scipy solves the same problem', () => {
  const graph = benchGraph('clustered', 101, 307, 5);
  const settings = { damping: 0.5, tolerances: [1e-3, 1e-12], maxIterations: 100, repeats: 1 };
  const [rough, fine] = runScipy(python as FoundPython, graph, benchQueries(graph, 3, 5), settings);
  expect(measureScoreError(rough!.scores, fine!.scores, 101).distance).toBeLessThan(1e-3);
  expect(fine!.scores.reduce((a, b) => a + b)).toBeCloseTo(3, 10);
  expect(fine!.iterations).toBeGreaterThan(rough!.iterations);
});

describe('bench command', () => {
  const run = (...args: string[]) => runBenchCommand('pagerank', ...args);

  test('measures every solver beside the peer, if there is one', async () => {
    const { output } = await run(
      '--nodes',
      '211',
      '--edges',
      '1009',
      '--batch',
      '5',
      '--rounds',
      '1',
      '--backend',
      'wasm',
    );
    expect(output).toMatch(/^machine: .* backend wasm\ngraph: clustered, 211 nodes, 1009 edges, seed 7; damping 0\.5/);
    for (const solver of ['host', 'sparse tensor', 'push'])
      expect(output).toMatch(new RegExp(`\n${solver} .* 1\\.0000\n`));
    expect(output).toContain('versions' in python ? `peer: ${python.versions}` : python.missing);
  });

  test('a graph that is not known ends with 2', async () => {
    const errors = 'unknown --graph: torus; use one of clustered, uniform\n';
    expect(await run('--graph', 'torus')).toMatchObject({ status: 2, errors });
  });
});
