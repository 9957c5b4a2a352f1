import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { formatKeptTouches, formatTimes, readTouches } from './test-touches.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-touches-'));
afterAll(() => rmSync(folder, { recursive: true }));
const touch = (commit: string) => ({ commit, backend: 'cpu', command: 'ragpp test-weights x' });
const writeTouches = (content: unknown) => {
  const path = join(folder, 'test.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

test('where there is no file, nobody has looked', () => {
  const path = join(folder, 'none.json');
  expect(readTouches(path)).toEqual([]);
});

test('looks are kept without what they found', () => {
  const path = writeTouches({ touches: [touch('abc')], models: [{ name: 'linear' }] });
  expect(JSON.parse(formatKeptTouches(path))).toEqual({ touches: [touch('abc')] });
});

test.each(['{', '[]', '{}', '{"touches":[{"commit":1}]}'])('%s is no record of looks', (text) => {
  const path = writeTouches(text);
  expect(() => readTouches(path)).toThrow(
    `file has no number of looks at the test split: ${path}; run ragpp test-weights again`,
  );
});

test('one is no plural', () => {
  expect([formatTimes(1), formatTimes(2)]).toEqual(['1 time', '2 times']);
});
