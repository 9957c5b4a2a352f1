import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../core/backend.ts';
import { TEST_BACKENDS } from '../core/sample-backends.ts';
import { deviationOf } from './compare.ts';
import { longRing } from './long-ring.ts';
import type { GoldenFile } from './topic.ts';

const golden = JSON.parse(readFileSync(new URL('golden/long-ring.json', import.meta.url), 'utf8')) as GoldenFile;

test('holds cases of every combination and direction, on rings and lines', () => {
  expect(golden.topic).toBe(longRing.name);
  expect(golden.cases).toHaveLength(7);
  const options = golden.cases.map(({ options }) => options as Record<string, unknown>);
  expect(new Set(options.map(({ combine }) => combine))).toEqual(new Set(['multiplicative', 'additive']));
  expect(new Set(options.map(({ direction }) => direction))).toEqual(new Set(['none', 'causal', 'anticausal']));
  expect(new Set(options.map(({ topology }) => topology))).toEqual(new Set(['ring', 'line']));
});

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each(golden.cases)('$name', async (golden) => {
    const before = tf.memory().numTensors;
    const parts = await longRing.compute(golden);
    expect(parts.map((part) => deviationOf(part).failure)).toEqual([null, null, null]);
    expect(tf.memory().numTensors).toBe(before);
  });
});
