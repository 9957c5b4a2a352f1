import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../core/backend.ts';
import { random } from '../core/random.ts';
import { TEST_BACKENDS } from '../core/sample-backends.ts';
import { candidateCosines } from './cosine.ts';

const [N, D, B, C] = [31, 7, 5, 11];
const source = random(4, 'cosine.test');
const unit = (row: number[]) => row.map((x) => x / Math.hypot(...row));
const corpus = Array.from({ length: N }, () => unit(Array.from({ length: D }, () => source.normal())));
corpus[3] = Array(D).fill(0);
corpus[5] = corpus[4] as number[];
const queries = Array.from({ length: B }, () => Array.from({ length: D }, () => 3 * source.normal()));
queries[1] = Array(D).fill(0);
queries[2] = corpus[4] as number[];
const positions = Array.from({ length: B }, () => Array.from({ length: C }, () => source.integer(N)));
positions[2] = [-1, 3, 4, 5, -1, 0, 1, 2, 30, -1, 6];

function cosineOf(a: readonly number[], b: readonly number[]): number {
  let dot = 0;
  for (let i = 0; i < a.length; i++) dot += (a[i] as number) * (b[i] as number);
  const norms = Math.hypot(...a) * Math.hypot(...b);
  return norms === 0 ? 0 : dot / norms;
}

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test('gives each query the cosines of its own candidates', async () => {
    const inputs = [tf.tensor2d(corpus), tf.tensor2d(queries), tf.tensor2d(positions, [B, C], 'int32')] as const;
    const before = tf.memory().numTensors;
    const result = candidateCosines(...inputs);
    const got = await result.array();
    result.dispose();
    expect(() => candidateCosines(inputs[0], inputs[0], inputs[2])).toThrow('shape of positions');
    expect(tf.memory().numTensors).toBe(before);
    tf.dispose([...inputs]);
    for (const [b, row] of positions.entries()) {
      for (const [c, position] of row.entries()) {
        const expected = position < 0 ? 0 : cosineOf(queries[b] as number[], corpus[position] as number[]);
        expect(got[b]?.[c]).toBeCloseTo(expected, 5);
      }
    }
    expect(got[1]?.map(Math.abs)).toEqual(Array(C).fill(0));
    expect(got[2]?.slice(0, 2).map(Math.abs)).toEqual([0, 0]);
    expect(got[2]?.[2]).toBe(got[2]?.[3]);
  });
});
