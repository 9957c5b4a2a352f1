import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom } from '../../core/numbers/random.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import { type GraphSpace, HNSWLIB, type HnswGraph, type HnswLibrary } from './hnsw.ts';
import { hashFile } from './saved-index.ts';

/** Vectors of each way in which hnswlib sums: by 16, by 4, with a rest, and one by one. */
const DIMENSIONS = [3, 7, 20, 37, 128, 131];
const [ROWS, QUERIES, K] = [401, 13, 10];
const OPTIONS = { m: 5, efConstruction: 40, efSearch: 30, seed: 3 };

/** A graph that has grown, with equal rows, and with hidden points. */
function fill(graph: HnswGraph, rows: Float32Array, dimension: number): HnswGraph {
  for (let row = 0; row < ROWS; row++) {
    graph.add(viewRow(rows, dimension, row), Int32Array.of(row));
    if (row % 7 === 6) graph.remove(row - 3);
  }
  return graph;
}

/** The answers of a graph, as text. */
function listAnswers(graph: HnswGraph, queries: Float32Array): string {
  const shown = Uint8Array.from({ length: ROWS }, (_, label) => Number(label % 3 > 0));
  const few = shown.map((_, label) => Number(label % 97 === 1)); // fewer than K
  const answers = [undefined, shown, few].map((labels) => graph.search(queries, K, labels));
  return JSON.stringify(answers.map(({ labels, distances }) => [Array.from(labels), Array.from(distances)]));
}

/**
 * Compares graphs of a library with those of hnswlib-node: their files byte for byte, and their answers.
 *
 * @returns a line for each difference, and the number of graphs.
 */
export async function compareWithHnswlib(library: HnswLibrary): Promise<{ differences: string[]; graphs: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-hnsw-'));
  const differences: string[] = [];
  try {
    for (const space of ['ip', 'l2'] as const)
      for (const dimension of DIMENSIONS) differences.push(...(await compareGraphs(library, space, dimension, folder)));
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { differences, graphs: 2 * DIMENSIONS.length };
}

async function compareGraphs(
  library: HnswLibrary,
  space: GraphSpace,
  dimension: number,
  folder: string,
): Promise<string[]> {
  const stream = createRandom(dimension, 'hnsw');
  const rows = Float32Array.from({ length: ROWS * dimension }, () => stream.drawNormal());
  rows.copyWithin(50 * dimension, 0, 20 * dimension); // ties
  const queries = Float32Array.from({ length: QUERIES * dimension }, () => stream.drawNormal());
  const [ours, theirs] = [library, HNSWLIB].map((one) =>
    fill(one.create(space, dimension, 100, OPTIONS), rows, dimension),
  ) as [HnswGraph, HnswGraph];
  const files = [join(folder, 'ours'), join(folder, 'theirs')] as const;
  await ours.write(files[0]);
  await theirs.write(files[1]);
  const where = `${space}, dimension ${dimension}`;
  const wanted = listAnswers(theirs, queries);
  const read = library.read(space, dimension, files[1], OPTIONS);
  return [
    ...((await hashFile(files[0])) === (await hashFile(files[1])) ? [] : [`${where}: another graph`]),
    ...(listAnswers(ours, queries) === wanted ? [] : [`${where}: other answers`]),
    ...(listAnswers(read, queries) === wanted ? [] : [`${where}: other answers of a graph that was read`]),
  ];
}
