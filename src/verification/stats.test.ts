import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { deviationOf } from './compare.ts';
import { stats } from './stats.ts';
import type { GoldenCase, GoldenFile } from './topic.ts';

const file = JSON.parse(readFileSync(new URL('golden/stats.json', import.meta.url), 'utf8')) as GoldenFile;

async function failuresOf(golden: GoldenCase): Promise<string[]> {
  const parts = await stats.compute(golden);
  return parts.flatMap((part) => deviationOf(part).failure ?? []);
}

test('holds cases', () => {
  expect(file.topic).toBe(stats.name);
  expect(file.cases).toHaveLength(5);
});

test.each(file.cases)('$name', async (golden) => {
  expect((await stats.compute(golden)).length).toBeGreaterThan(0);
  expect(await failuresOf(golden)).toEqual([]);
});
