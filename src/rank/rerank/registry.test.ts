import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { buildInputs, CANDIDATES, DISTINCT_PLACES, THRESHOLD } from '../../ops/selection/near-copies.fixture.ts';
import { loadSelection, selectionOptions } from './registry.ts';

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each([
    { method: 'mmr', lambda: 0.7 },
    { method: 'diversity-filter', marginalAbove: -1 },
  ])('$method takes no duplicate', async (options) => {
    const select = await loadSelection(selectionOptions.parse({ ...options, duplicateAbove: THRESHOLD }));
    const slots = tf.tidy(() => select(buildInputs(), CANDIDATES).slots);
    const taken = (await slots.array()).map((row) => row.filter((slot) => slot >= 0).sort((a, b) => a - b));
    slots.dispose();
    expect(taken).toEqual(DISTINCT_PLACES);
  });
});

test('without the option nothing is a duplicate, and the options are as they were', () => {
  expect(selectionOptions.parse({ method: 'mmr' })).toEqual({ method: 'mmr', k: 50, lambda: 0.7 });
});
