import { EDGE_KINDS } from '../src/index/graph/concept-graph.ts';
import type { GraphFigures } from './graph-child.ts';
import type { WalkRow } from './graph-walks.ts';
import { formatTextTable } from './text-table.ts';

type Row = readonly [name: string, read: (figures: GraphFigures) => string];

/** A column for each size. */
function formatBySize(title: string, all: readonly GraphFigures[], rows: readonly Row[]): string {
  const header = [title, ...all.map(({ size }) => `${size}`)];
  return formatTextTable(
    header,
    rows.map(([name, read]) => [name, ...all.map(read)]),
  );
}

const listTimes = (name: string, read: (figures: GraphFigures) => { p50: number; p99: number }): Row[] => [
  [`${name}, p50`, (figures) => read(figures).p50.toFixed(3)],
  [`${name}, p99`, (figures) => read(figures).p99.toFixed(3)],
];

/** What the graph costs: a table of the build, of insertions and of queries, a column for each number of memories. */
export function formatGraphTables(all: readonly GraphFigures[]): string {
  const made = EDGE_KINDS.filter((kind) => all.some(({ edges }) => edges[kind] !== undefined));
  const build = formatBySize('build', all, [
    ['concepts of the texts, s', ({ tagSeconds }) => tagSeconds.toFixed(2)],
    ['graph, s', ({ insertSeconds }) => insertSeconds.toFixed(2)],
    ['arrays for walks, s', ({ arraySeconds }) => arraySeconds.toFixed(2)],
    ['bm25, s', ({ bm25Seconds }) => bm25Seconds.toFixed(2)],
    ['concepts', ({ nodes }) => `${nodes.concepts}`],
    ...made.map((kind): Row => [`edges: ${kind}`, ({ edges }) => `${edges[kind] ?? 0}`]),
    ['edges of the largest hub', ({ largestDegree }) => `${largestDegree}`],
    ['graph, bytes a memory', ({ graphBytes, size }) => (graphBytes / size).toFixed(0)],
    ['arrays, bytes a memory', ({ arrayBytes, size }) => (arrayBytes / size).toFixed(0)],
    ['peak of the process, MiB', ({ peakBytes }) => (peakBytes / 2 ** 20).toFixed(0)],
  ]);
  const insertion = formatBySize('insertion, ms', all, [
    ...listTimes('one memory', (figures) => figures.insertion),
    ['operations, first memories', ({ operations }) => operations.first.toFixed(1)],
    ['operations, last memories', ({ operations }) => operations.last.toFixed(1)],
    ['a rebuilt graph equals it', ({ isRebuilt }) => (isRebuilt ? 'yes' : 'NO')],
  ]);
  const names = Object.keys(all[0]?.asked ?? {});
  const queries = formatBySize(
    'query, ms',
    all,
    names.flatMap((name): Row[] => [
      ...listTimes(name, ({ asked }) => asked[name]!),
      [`${name}, p50 to bm25`, ({ asked }) => (asked[name]!.p50 / asked.bm25!.p50).toFixed(2)],
    ]),
  );
  return [build, insertion, queries].join('\n\n');
}

/** PageRank of the same seeds on the same edges. */
export function formatWalks(walks: readonly { readonly size: number; readonly rows: readonly WalkRow[] }[]): string {
  const header = ['PageRank', 'memories', 'at once', 'build s', 'ms/query', 'queries', 'top 10 as ours', 'max error'];
  const lines = walks.flatMap(({ size, rows }) =>
    rows.map(({ name, atOnce, buildSeconds, milliseconds, queries, overlap, difference }) => [
      name,
      `${size}`,
      `${atOnce}`,
      buildSeconds?.toFixed(2) ?? '-',
      milliseconds.toFixed(2),
      `${queries}`,
      overlap.toFixed(3),
      difference.toExponential(1),
    ]),
  );
  return formatTextTable(header, lines);
}
