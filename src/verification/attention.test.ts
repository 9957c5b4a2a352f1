import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../core/backend.ts';
import { TEST_BACKENDS } from '../core/sample-backends.ts';
import { attention } from './attention.ts';
import { deviationOf } from './compare.ts';
import type { GoldenFile } from './topic.ts';

const golden = JSON.parse(readFileSync(new URL('golden/attention.json', import.meta.url), 'utf8')) as GoldenFile;

test('holds cases of every mechanism', () => {
  expect(golden.topic).toBe(attention.name);
  expect(golden.cases).toHaveLength(26);
  expect(new Set(golden.cases.map((golden) => golden.mechanism))).toEqual(new Set([undefined, 'tpo', 'unified']));
});

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each(golden.cases)('$name', async (golden) => {
    const before = tf.memory().numTensors;
    const parts = await attention.compute(golden);
    expect(parts.map((part) => deviationOf(part).failure)).toEqual([null, null]);
    expect(tf.memory().numTensors).toBe(before);
  });
});
