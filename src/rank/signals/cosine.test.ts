import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { RowBlocks } from '../../core/tensors/row-blocks.ts';
import { computeCandidateCosines, computeHostCosines, computePairCosines, findVersionRows } from './cosine.ts';
import { QUERY_BATCH } from './stage.ts';

const [N, D, B, C] = [31, 7, 5, 11];
const source = createRandom(4, 'cosine.test');
const scaleRowToUnit = (row: number[]) => row.map((x) => x / Math.hypot(...row));
const corpus = Array.from({ length: N }, () => scaleRowToUnit(Array.from({ length: D }, () => source.drawNormal())));
corpus[3] = Array(D).fill(0);
corpus[5] = corpus[4] as number[];
const queries = Array.from({ length: B }, () => Array.from({ length: D }, () => 3 * source.drawNormal()));
queries[1] = Array(D).fill(0);
queries[2] = corpus[4] as number[];
const positions = Array.from({ length: B }, () => Array.from({ length: C }, () => source.integer(N)));
positions[2] = [-1, 3, 4, 5, -1, 0, 1, 2, 30, -1, 6];

/** In blocks of 13 rows. */
const uploadCorpus = () => new RowBlocks(Float32Array.from(corpus.flat()), D, 13);

function computePlainCosine(a: readonly number[], b: readonly number[]): number {
  let dot = 0;
  for (let i = 0; i < a.length; i++) dot += (a[i] as number) * (b[i] as number);
  const norms = Math.hypot(...a) * Math.hypot(...b);
  return norms === 0 ? 0 : dot / norms;
}

const computeExpectedCosine = (b: number, position: number) =>
  position < 0 ? 0 : computePlainCosine(queries[b] as number[], corpus[position] as number[]);

test('a loop on the host gives them too', () => {
  const rows = { vectors: Float32Array.from(corpus.flat()), dimension: D };
  const got = computeHostCosines(rows, Float32Array.from(queries.flat()), Int32Array.from(positions.flat()));
  for (const [b, row] of positions.entries())
    for (const [c, position] of row.entries())
      expect(got[b * C + c]).toBeCloseTo(computeExpectedCosine(b, position), 6);
  expect(got[2 * C + 2]).not.toBe(0);
});

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test('gives each query the cosines of its own candidates', async () => {
    const inputs = [uploadCorpus(), tf.tensor2d(queries), tf.tensor2d(positions, [B, C], 'int32')] as const;
    const fewer = tf.tensor2d([0], [1, 1], 'int32');
    const before = tf.memory().numTensors;
    const result = computeCandidateCosines(...inputs);
    const got = await result.array();
    result.dispose();
    expect(() => computeCandidateCosines(inputs[0], inputs[1], fewer)).toThrow('shape of positions');
    expect(tf.memory().numTensors).toBe(before);
    for (const input of [...inputs, fewer]) input.dispose();
    for (const [b, row] of positions.entries()) {
      for (const [c, position] of row.entries()) {
        expect(got[b]?.[c]).toBeCloseTo(computeExpectedCosine(b, position), 5);
      }
    }
    expect(got[1]?.map(Math.abs)).toEqual(Array(C).fill(0));
    expect(got[2]?.slice(0, 2).map(Math.abs)).toEqual([0, 0]);
    expect(got[2]?.[2]).toBe(got[2]?.[3]);
  });

  // On wasm one candidate of each query is looked up, and of many the whole product is taken.
  test.each([1, 13])('of more queries than a batch holds, %d candidates each', async (width) => {
    const count = QUERY_BATCH + 5;
    const asked = Array.from({ length: count }, (_, i) => queries[i % B] as number[]);
    const places = Int32Array.from({ length: count * width }, () => source.integer(N + 1) - 1);
    const blocks = uploadCorpus();
    const rows = { vectors: Float32Array.from(corpus.flat()), dimension: D, blocks: async () => blocks };
    const before = tf.memory().numTensors;
    const got = await computePairCosines(rows, Float32Array.from(asked.flat()), places);
    expect(tf.memory().numTensors).toBe(before);
    blocks.dispose();
    for (const [pair, position] of places.entries())
      expect(got[pair]).toBeCloseTo(computeExpectedCosine(Math.floor(pair / width) % B, position), 5);
  });

  test('no queries have no cosines', async () => {
    const rows = { vectors: Float32Array.from(corpus.flat()), dimension: D, blocks: () => Promise.reject(new Error()) };
    expect(await computePairCosines(rows, new Float32Array(0), new Int32Array(0))).toHaveLength(0);
  });
});

/** Turn 0 in two versions, turn 1 in one that ends, turn 3 in one. */
const versions = {
  vectors: new Float32Array(0),
  positions: Int32Array.of(0, 1, 3, 0),
  validFrom: Int32Array.of(1, 2, 4, 5),
  validTo: Int32Array.of(5, 7, 99, 99),
  reach: 1,
};
const buildPoolRows = (width: number, ...positions: number[]) => ({
  queryCount: positions.length / width,
  width,
  positions: Int32Array.from(positions),
});

test('each place has the row that is valid at its query, from the first cutoff to before the last', () => {
  const rows = findVersionRows(versions, buildPoolRows(3, 0, -1, -1, 0, 1, 3, 1, 3, 0), Int32Array.of(1, 4, 5));
  expect([...rows]).toEqual([0, -1, -1, 0, 1, 2, 1, 2, 3]);
});

test.each([
  ['it has none', 2, 9],
  ['it has none yet', 1, 1],
  ['it has none any more', 1, 7],
])('a turn is refused where %s', (_, position, cutoff) => {
  const ask = () => findVersionRows(versions, buildPoolRows(1, position), Int32Array.of(cutoff));
  expect(ask).toThrow(ValidationError);
  expect(ask).toThrow(
    `turn at position ${position} has no propagated version at cutoff: ${cutoff}; pass the versions and the pool of one corpus`,
  );
});
