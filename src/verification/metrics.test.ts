import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { deviationOf } from './compare.ts';
import { metrics } from './metrics.ts';
import type { GoldenCase, GoldenFile } from './topic.ts';

const file = JSON.parse(readFileSync(new URL('golden/metrics.json', import.meta.url), 'utf8')) as GoldenFile;

async function failuresOf(golden: GoldenCase): Promise<string[]> {
  const parts = await metrics.compute(golden);
  return parts.flatMap((part) => deviationOf(part).failure ?? []);
}

test('holds cases', () => {
  expect(file.topic).toBe(metrics.name);
  expect(file.cases).toHaveLength(3);
});

test.each(file.cases)('$name', async (golden) => {
  expect((await metrics.compute(golden)).length).toBeGreaterThan(0);
  expect(await failuresOf(golden)).toEqual([]);
});
