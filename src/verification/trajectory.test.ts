import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../core/backend.ts';
import { TEST_BACKENDS } from '../core/sample-backends.ts';
import { deviationOf } from './compare.ts';
import type { GoldenFile } from './topic.ts';
import { trajectory } from './trajectory.ts';

const golden = JSON.parse(readFileSync(new URL('golden/trajectory.json', import.meta.url), 'utf8')) as GoldenFile;

test('holds cases', () => {
  expect(golden.topic).toBe(trajectory.name);
  expect(golden.cases).toHaveLength(20);
});

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each(golden.cases)('$name', async (golden) => {
    const parts = await trajectory.compute(golden);
    expect(parts.map((part) => deviationOf(part).failure)).toEqual(parts.map(() => null));
    expect(parts.some((part) => part.at === 'distance')).toBe(
      (golden.expected as { distance: unknown }).distance !== null,
    );
  });
});
