import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { createRandom } from '../src/core/numbers/random.ts';
import { BACKENDS, type BackendChoice, useBackend } from '../src/core/tensors/backend.ts';
import { recallAt } from '../src/index/candidates/recall.ts';
import { buildUnchangingRows, FlatIndex } from '../src/index/vectors/flat.ts';
import { HnswIndex, isScanCheaper } from '../src/index/vectors/hnsw.ts';
import { HNSW_DEFAULTS } from '../src/index/vectors/vector-kind.ts';
import type { CandidateIndex, Candidates, QueryBatch } from '../src/model/candidates.ts';
import { type BenchSettings, drawCandidateInputs, K } from './candidate-timing.ts';
import { parsePositiveOption } from './integer-option.ts';
import { selectQuery } from './query-batch.ts';
import { formatTextTable } from './text-table.ts';
import { median } from './timing.ts';

export const FILTERED_SEARCH_USAGE = `filtered-search [options]   search among the visible turns: hnsw in its graph, hnsw that compares all, and flat; time and recall@${K}
    --size N       turns (default 10000)
    --dimension D  of the vectors (default 512)
    --queries Q    (default 100)
    --seed S       (default 7)
    --backend B    auto, ${BACKENDS.join(', ')} (default auto)`;

/** Percent of the turns that are visible. */
const SELECTIVITIES = [0.1, 1, 10, 20, 30, 40, 50, 100];

/** The median of searches of one query each, and the recall. */
interface Searched {
  readonly milliseconds: number;
  readonly recall: number;
}

export interface FilteredRow {
  readonly percent: number;
  /** Visible turns: as many vectors are compared with a query. */
  readonly count: number;
  readonly graph: Searched;
  /** null where every turn is visible, which hnsw always looks for in the graph. */
  readonly compared: Searched | null;
  readonly flat: Searched;
  /** What hnsw does. */
  readonly chosen: 'graph' | 'compared';
}

function drawList(size: number, percent: number, seed: number): Int32Array {
  const order = createRandom(seed, `visible ${percent}`).shuffle([...Array(size).keys()]);
  return Int32Array.from(order.slice(0, Math.max(1, Math.round((percent / 100) * size)))).sort();
}

/** Every query sees the list. */
async function measureSearch(
  index: CandidateIndex,
  batch: QueryBatch,
  exact: Candidates,
  k: number,
): Promise<Searched> {
  const times: number[] = [];
  for (const query of batch.cutoffs.keys()) {
    const one = selectQuery(batch, query);
    const start = performance.now();
    await index.search(one, K);
    times.push(performance.now() - start);
  }
  return { milliseconds: median(times), recall: recallAt(k, await index.search(batch, K), exact) };
}

/** For each share of visible turns: hnsw in its graph alone, hnsw that compares all, and flat. */
export async function measureFilteredSearch(settings: Omit<BenchSettings, 'graph'>): Promise<FilteredRow[]> {
  const { size, dimension, seed, queries } = settings;
  const { ids, vectors, batch } = drawCandidateInputs(settings);
  const open = (scannedPerRoot: number) =>
    new HnswIndex({ ids, vectors, dimension }, { ...HNSW_DEFAULTS, seed }, undefined, scannedPerRoot);
  const [graph, compared] = [open(0), open(Number.POSITIVE_INFINITY)];
  const flat = new FlatIndex(ids, buildUnchangingRows(vectors, dimension));
  await graph.search(selectQuery(batch, 0), K); // builds it
  const rows: FilteredRow[] = [];
  for (const percent of SELECTIVITIES) {
    const list = drawList(size, percent, seed);
    const count = list.length;
    const filtered = { ...batch, visible: Array<Int32Array>(queries).fill(list) };
    const exact = await flat.search(filtered, K);
    const measure = (index: CandidateIndex) => measureSearch(index, filtered, exact, Math.min(K, count));
    rows.push({
      percent,
      count,
      graph: await measure(graph),
      compared: count === size ? null : await measure(compared),
      flat: await measure(flat),
      chosen: isScanCheaper(count, size, Math.max(K, HNSW_DEFAULTS.efSearch)) ? 'compared' : 'graph',
    });
  }
  for (const index of [graph, compared, flat]) index.dispose();
  return rows;
}

export function formatFilteredRows(rows: readonly FilteredRow[]): string {
  const header = [
    'visible %',
    'turns',
    'graph ms',
    `recall@${K}`,
    'compared ms',
    `recall@${K}`,
    'flat ms',
    'hnsw does',
  ];
  const formatSearched = (searched: Searched | null) =>
    searched === null ? ['', ''] : [searched.milliseconds.toFixed(3), searched.recall.toFixed(4)];
  return formatTextTable(
    header,
    rows.map(({ percent, count, graph, compared, flat, chosen }) => [
      `${percent}`,
      `${count}`,
      ...formatSearched(graph),
      ...formatSearched(compared),
      flat.milliseconds.toFixed(3),
      chosen,
    ]),
  );
}

/** Prints the table of the bench. */
export async function benchFilteredSearch(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      size: { type: 'string', default: '10000' },
      dimension: { type: 'string', default: '512' },
      queries: { type: 'string', default: '100' },
      seed: { type: 'string', default: '7' },
      backend: { type: 'string', default: 'auto' },
    },
  });
  const settings = {
    size: parsePositiveOption('size', values.size),
    dimension: parsePositiveOption('dimension', values.dimension),
    queries: parsePositiveOption('queries', values.queries),
    seed: parsePositiveOption('seed', values.seed),
  };
  const backend = await useBackend(values.backend as BackendChoice);
  console.log(
    `machine: ${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores; node ${process.version}; backend ${backend}`,
  );
  const { size, dimension, queries, seed } = settings;
  console.log(`data: ${size} x ${dimension} unit vectors in 100 clusters, ${queries} queries, seed ${seed}`);
  console.log(`\n${formatFilteredRows(await measureFilteredSearch(settings))}`);
}
