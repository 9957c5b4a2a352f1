import { expect, test } from 'vitest';
import { requirePackages } from '../src/core/required-packages.harness.ts';
import { runBenchCommand } from './command.harness.ts';
import { drawMemoryData, measureRecall, nameRecord } from './memory-data.ts';

const SMALL = ['--n', '300', '--dimension', '16', '--queries', '5', '--seconds', '1'];

test('measures indexes with and without a filter', async () => {
  const options = ['--only', 'indexes,filtered', '--indexes', 'flat,hnsw-paper,postgres-hnsw', '--breadths', '256'];
  const { status, output } = await runBenchCommand('memory', ...SMALL, ...options);
  expect(status).toBe(0);
  expect(output).toMatch(/^machine: .*\ndata: 300 x 16 unit vectors, manifold, 5 queries, seed 7\n/);
  expect(output).toContain('postgres: no server; name one with --postgres\n');
  expect(output).toMatch(/\nflat +300 .* 1\.0000 /);
  expect(output).toMatch(/\nhnsw-paper +300 .* 128 .* 1\.0000 /);
  expect(output).toMatch(/\nhnsw-paper +256 .* 1\.0000\n/);
  expect(output.match(/\n(flat|hnsw-paper +(128|256)) +(0\.1|1|10|50) +(1|3|30|150) .* 1\.0000/g)).toHaveLength(12);
});

requirePackages('PGlite').testWithout('indexes in PGlite are left out with the reason', async () => {
  const options = ['--only', 'indexes', '--indexes', 'pglite-hnsw', '--breadths', '256'];
  const { status, output } = await runBenchCommand('memory', ...SMALL, ...options);
  expect([status, output]).toEqual([
    0,
    expect.stringMatching(/\npglite: .* not installed; run \.ci\/databases npm run /),
  ]);
});

test('measures how a store opens from its journal and from its snapshot', async () => {
  const { status, output } = await runBenchCommand('memory', ...SMALL, '--only', 'recovery');
  expect(status).toBe(0);
  expect(output).toMatch(/\njournal +300 .*\nsnapshot +300 /);
});

test('measures queries beside the search in the index alone', async () => {
  const options = ['--only', 'queries', '--indexes', 'flat,hnsw-paper'];
  const { status, output } = await runBenchCommand('memory', ...SMALL, ...options);
  expect(status).toBe(0);
  for (const name of ['flat', 'hnsw-paper'])
    for (const kind of ['search', 'query', 'query, kept', 'query, 10 % visible'])
      expect(output).toMatch(new RegExp(`\\n${name} +300 +[.\\d]+ +${kind} +[.\\d]+ +[.\\d]+`));
});

test('a wrong option ends with 2', async () => {
  const errors: unknown = expect.stringMatching(
    /^unknown --only: reads; use indexes, filtered, queries, writes, recovery\n$/,
  );
  expect(await runBenchCommand('memory', '--only', 'reads')).toMatchObject({ status: 2, errors });
});

test('the exact results are the nearest of the visible records', () => {
  const { vectors, queries, ranks, exact } = drawMemoryData({
    ...{ size: 60, dimension: 8, queries: 3, seed: 5 },
    data: 'uniform',
  });
  const rows = Array.from({ length: 60 }, (_, row) => vectors.subarray(8 * row, 8 * row + 8));
  for (const [query, found] of exact[50]!.entries()) {
    const asked = queries.subarray(8 * query, 8 * query + 8);
    const scored = rows.map((row, at) => ({ at, score: row.reduce((sum, value, d) => sum + value * asked[d]!, 0) }));
    const nearest = scored.filter(({ at }) => ranks[at]! < 30).sort((a, b) => b.score - a.score);
    expect(found).toEqual(nearest.slice(0, 10).map(({ at }) => at));
  }
  expect(exact[0.1]!.map(({ length }) => length)).toEqual([1, 1, 1]);
});

test('recall is the mean share of the exact results', () => {
  const exact = [[1, 2], [3]];
  expect(measureRecall([[nameRecord(2), nameRecord(9)], []], exact)).toBe(0.25);
});
