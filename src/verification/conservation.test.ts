import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../core/backend.ts';
import { TEST_BACKENDS } from '../core/sample-backends.ts';
import { deviationOf } from './compare.ts';
import { conservation } from './conservation.ts';
import type { GoldenFile } from './topic.ts';

const file = JSON.parse(readFileSync(new URL('golden/conservation.json', import.meta.url), 'utf8')) as GoldenFile;

test('holds cases', () => {
  expect(file.topic).toBe(conservation.name);
  expect(file.cases).toHaveLength(4);
});

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each(file.cases)('$name', async (golden) => {
    const before = tf.memory().numTensors;
    const parts = await conservation.compute(golden);
    expect(parts.length).toBeGreaterThan(0);
    expect(parts.flatMap((part) => deviationOf(part).failure ?? [])).toEqual([]);
    expect(tf.memory().numTensors).toBe(before);
  });
});
