import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../core/backend.ts';
import { TEST_BACKENDS } from '../core/sample-backends.ts';
import { deviationOf } from './compare.ts';
import { ppr } from './ppr.ts';
import type { GoldenFile } from './topic.ts';

const file = JSON.parse(readFileSync(new URL('golden/ppr.json', import.meta.url), 'utf8')) as GoldenFile;

test('holds cases, directed and undirected, with dangling nodes and without', () => {
  expect(file.topic).toBe(ppr.name);
  expect(file.cases).toHaveLength(4);
  expect(new Set(file.cases.map(({ directed }) => directed))).toEqual(new Set([true, false]));
  expect(new Set(file.cases.map(({ dangling }) => (dangling as number[]).length > 0))).toEqual(new Set([true, false]));
});

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each(file.cases)('$name', async (golden) => {
    const before = tf.memory().numTensors;
    const parts = await ppr.compute(golden);
    expect(parts.map((part) => deviationOf(part).failure)).toEqual(parts.map(() => null));
    expect(parts).toHaveLength(6);
    expect(tf.memory().numTensors).toBe(before);
  });
});
