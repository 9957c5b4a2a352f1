import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom } from '../src/core/numbers/random.ts';
import { compareBytes } from '../src/model/turns/tie-rule.ts';
import { drawClusteredVectors, scaleToUnit } from './clustered-vectors.ts';

/** The number of neighbours, and the k of the recall. */
export const K = 10;
/** Percent of the records that a filtered search may see. */
export const SHARES = [0.1, 1, 10, 50] as const;
/** The attribute that filters compare: the rank of the record in a random order. */
export const RANK = 'rank';

/**
 * `manifold`: a random map of 32 normal numbers, as embeddings of texts vary in far fewer directions than they have numbers; `clustered`: around 100 centres, with
 * noise in every direction; `uniform`: no neighbourhoods, which is the hardest case of a graph.
 */
export const DATA_KINDS = ['manifold', 'clustered', 'uniform'] as const;
const MANIFOLD_DIMENSION = 32;

export interface MemorySettings {
  /** N. */
  readonly size: number;
  /** D. */
  readonly dimension: number;
  /** Q. */
  readonly queries: number;
  readonly seed: number;
  readonly data: (typeof DATA_KINDS)[number];
}

/** Vectors and what an exact search finds among them. */
export interface MemoryData {
  readonly settings: MemorySettings;
  /** [N, D] unit vectors. */
  readonly vectors: Float32Array;
  /** [Q, D] unit vectors. */
  readonly queries: Float32Array;
  /** [N] the value of {@link RANK} of each record. */
  readonly ranks: Int32Array;
  /** By percent of visible records, [Q] the positions of the best {@link K}, fewer if fewer are visible. */
  readonly exact: Readonly<Record<string, readonly (readonly number[])[]>>;
}

export const nameRecord = (position: number) => `record-${position}`;

/** Records that a share sees: those of a lower rank. */
export function countVisible(size: number, percent: number): number {
  return Math.max(1, Math.round((percent / 100) * size));
}

function drawUniformVectors(count: number, dimension: number, seed: number, name: string): Float32Array {
  const stream = createRandom(seed, name);
  const vectors = new Float32Array(count * dimension);
  for (let row = 0; row < count; row++) {
    const normals = Float64Array.from({ length: dimension }, () => stream.drawNormal());
    vectors.set(scaleToUnit(normals), row * dimension);
  }
  return vectors;
}

function drawManifoldVectors(count: number, dimension: number, seed: number, name: string): Float32Array {
  const mapStream = createRandom(seed, 'map');
  const map = Float64Array.from({ length: MANIFOLD_DIMENSION * dimension }, () => mapStream.drawNormal());
  const stream = createRandom(seed, name);
  const vectors = new Float32Array(count * dimension);
  for (let row = 0; row < count; row++) {
    const vector = new Float64Array(dimension);
    for (let direction = 0; direction < MANIFOLD_DIMENSION; direction++) {
      const amount = stream.drawNormal();
      for (let d = 0; d < dimension; d++) vector[d]! += amount * map[direction * dimension + d]!;
    }
    vectors.set(scaleToUnit(vector), row * dimension);
  }
  return vectors;
}

const DRAWS = { manifold: drawManifoldVectors, clustered: drawClusteredVectors, uniform: drawUniformVectors };

/** [N] inner products with a query, in float64. */
function multiplyAll(vectors: Float32Array, query: Float32Array): Float64Array {
  const dimension = query.length;
  const products = new Float64Array(vectors.length / dimension);
  for (let row = 0, at = 0; row < products.length; row++) {
    let sum = 0;
    for (let d = 0; d < dimension; d++) sum += vectors[at++]! * query[d]!;
    products[row] = sum;
  }
  return products;
}

/** The positions of the greatest products among records of a rank below `visible`. */
function selectBest(products: Float64Array, ranks: Int32Array, visible: number): number[] {
  const best: number[] = [];
  const precedes = (a: number, b: number) => {
    const difference = products[a]! - products[b]!;
    return difference === 0 ? compareBytes(nameRecord(a), nameRecord(b)) > 0 : difference > 0;
  };
  for (let position = 0; position < products.length; position++) {
    if (ranks[position]! >= visible) continue;
    if (best.length === K && !precedes(position, best[K - 1]!)) continue;
    let place = best.length;
    while (place > 0 && precedes(position, best[place - 1]!)) place--;
    best.splice(place, 0, position);
    best.length = Math.min(best.length, K);
  }
  return best;
}

/** Draws records and queries, and compares each query with every record. O(Q N D). */
export function drawMemoryData(settings: MemorySettings): MemoryData {
  const { size, dimension, queries: count, seed, data } = settings;
  const draw = DRAWS[data];
  const vectors = draw(size, dimension, seed, 'records');
  const queries = draw(count, dimension, seed, 'queries');
  const ranks = Int32Array.from(createRandom(seed, 'ranks').shuffle([...Array(size).keys()]));
  const exact: Record<string, number[][]> = {};
  for (let query = 0; query < count; query++) {
    const products = multiplyAll(vectors, queries.subarray(query * dimension, (query + 1) * dimension));
    for (const percent of [...SHARES, 100]) {
      exact[percent] ??= [];
      exact[percent].push(selectBest(products, ranks, countVisible(size, percent)));
    }
  }
  return { settings, vectors, queries, ranks, exact };
}

/** The vectors, row-major and little endian, as other programs read them. */
export const VECTOR_FILE = 'vectors.f32';
const QUERY_FILE = 'queries.f32';
const FACTS_FILE = 'facts.json';

/** Writes the data for other processes, the peers among them. */
export function writeMemoryData(folder: string, { settings, vectors, queries, ranks, exact }: MemoryData): void {
  writeFileSync(join(folder, VECTOR_FILE), vectors);
  writeFileSync(join(folder, QUERY_FILE), queries);
  writeFileSync(join(folder, FACTS_FILE), JSON.stringify({ settings, ranks: Array.from(ranks), exact }));
}

/** The data without the vectors, which would count as memory of the process. */
export function readMemoryFacts(folder: string): Omit<MemoryData, 'vectors'> {
  const facts = JSON.parse(readFileSync(join(folder, FACTS_FILE), 'utf8')) as Pick<MemoryData, 'settings' | 'exact'> & {
    ranks: number[];
  };
  const bytes = readFileSync(join(folder, QUERY_FILE));
  const queries = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  return { ...facts, queries, ranks: Int32Array.from(facts.ranks) };
}

/** The mean share of the exact results that were found. */
export function measureRecall(found: readonly (readonly string[])[], exact: readonly (readonly number[])[]): number {
  const shares = exact.map((positions, query) => {
    const ids = new Set(found[query]);
    return positions.filter((position) => ids.has(nameRecord(position))).length / positions.length;
  });
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}
