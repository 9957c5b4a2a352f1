import { expect, test } from 'vitest';
import { listConcepts, readTitle } from '../src/index/graph/graph-moment.ts';
import { Corpus } from '../src/model/turns/corpus.ts';
import { runBenchCommand } from './command.harness.ts';
import { formatWalks } from './graph-tables.ts';
import { drawNamedThreads } from './named-threads.ts';

test('measures building, insertion and queries of a size', async () => {
  const { status, output } = await runBenchCommand(
    ...['graph', '--sizes', '240', '--queries', '5', '--also', 'alias,cooccurrence', '--peers', 'none'],
  );
  expect(status).toBe(0);
  expect(output).toMatch(
    /^machine: .*\ndata: made-up threads with names and titles, 5 queries, seed 7; times of the processor\n/,
  );
  const numbers = String.raw` +[\d.]+$`;
  const kinds = ['mentions', 'alias', 'cooccurrence', 'reply', 'next', 'names'].map((kind) => `edges: ${kind}`);
  const times = ['one memory', 'bm25', 'pagerank', 'hop-decay', 'degree', String.raw`bm25 \+ graph`];
  for (const name of [...kinds, 'graph, s', 'graph, bytes a memory', ...times.map((time) => `${time}, p99`)])
    expect(output, name).toMatch(new RegExp(`^${name}${numbers}`, 'm'));
  expect(output).toMatch(/^a rebuilt graph equals it +yes$/m);
});

test('threads have hubs, titles that texts name and questions in time order', () => {
  const [size, count] = [2000, 40];
  const { turns, queries } = drawNamedThreads(size, count, 3);
  expect(drawNamedThreads(size, count, 3).turns).toEqual(turns);
  expect(drawNamedThreads(size, count, 4).turns).not.toEqual(turns);
  expect(new Corpus(turns).turns).toEqual(turns);
  const mentions = new Map<string, number>();
  for (const turn of turns)
    for (const concept of listConcepts(turn.text, readTitle(turn)))
      mentions.set(concept, (mentions.get(concept) ?? 0) + 1);
  const counts = [...mentions.values()].sort((a, b) => b - a);
  expect(counts[0]).toBeGreaterThan(size / 8);
  expect(counts.filter((mentioned) => mentioned < 4).length).toBeGreaterThan(counts.length / 3);
  const titles = new Set(turns.flatMap((turn) => readTitle(turn) ?? []));
  expect(turns.filter(({ text }) => [...titles].some((title) => text.includes(`"${title}"`))).length).toBeGreaterThan(
    size / 20,
  );
  expect(queries).toHaveLength(count);
  expect(queries.every(({ cutoff }, i) => cutoff > 0.9 * size && cutoff >= (queries[i - 1]?.cutoff ?? 0))).toBe(true);
  expect(queries.at(-1)?.cutoff).toBe(size);
});

test('a walk has a row for each program and size', () => {
  const own = {
    name: 'push',
    atOnce: 1,
    buildSeconds: null,
    milliseconds: 0.25,
    queries: 9,
    overlap: 1,
    difference: 2e-4,
  };
  const peer = { ...own, name: 'scipy', atOnce: 32, buildSeconds: 0.5, overlap: 0.95 };
  expect(
    formatWalks([{ size: 70, rows: [own, peer] }])
      .split('\n')
      .slice(2),
  ).toEqual([
    'push            70        1        -      0.25        9           1.000     2.0e-4',
    'scipy           70       32     0.50      0.25        9           0.950     2.0e-4',
  ]);
});

test.each([
  [['--also', 'similar'], 'unknown --also: similar; use cooccurrence, alias\n'],
  [['--peers', 'scipy,neo4j'], 'unknown --peers: neo4j; use scipy, igraph, networkx\n'],
  [
    ['--sizes', '50,500', '--queries', '20'],
    '--sizes has fewer than ten memories a query: 50; give at least 200, or fewer --queries\n',
  ],
])('refuses %j', async (args, errors) => {
  expect(await runBenchCommand('graph', ...args)).toMatchObject({ status: 2, errors });
});
