import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as errors from '../../core/errors/errors.ts';
import { memoryOptions } from './memory-options.ts';
import { queryBundleSchema } from './query-response.ts';

const page = readFileSync(new URL('../../../docs/memory.md', import.meta.url), 'utf8');
/** What the first cells of the tables name. */
const named = new Set(
  page.split('\n').flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`(\w+)/g)].map(([, name]) => name)),
);

test.each([
  ['option', Object.keys(memoryOptions.shape)],
  ['key of a query', Object.keys(queryBundleSchema.shape)],
])('the page of the memory has a row for every %s', (_, keys) => {
  expect(keys.filter((key) => !named.has(key))).toEqual([]);
});

test('the errors of the page exist', () => {
  const listed = page.match(/\b[A-Z]\w+Error\b/g) ?? [];
  expect(listed.length).toBeGreaterThan(10);
  expect(listed.filter((name) => !(name in errors))).toEqual([]);
});
