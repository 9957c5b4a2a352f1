import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { markDistinct } from './diversity-filter.ts';
import { buildInputs, CANDIDATES, DISTINCT_PLACES, THRESHOLD } from './near-copies.fixture.ts';

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test('a candidate near a better one is a duplicate', async () => {
    const got = tf.tidy(() => markDistinct(buildInputs(), THRESHOLD));
    const marks = (await got.array()) as unknown as number[][];
    got.dispose();
    expect(marks.map((row) => [...row.keys()].filter((i) => row[i]))).toEqual(DISTINCT_PLACES);
    expect(DISTINCT_PLACES.some((kept) => kept.length < CANDIDATES - 1)).toBe(true);
  });
});
