import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { benchStartup, formatStarts, measureStarts } from './startup.ts';

const dist = mkdtempSync(join(tmpdir(), 'ragpp-startup-'));
afterAll(() => rmSync(dist, { recursive: true }));

test('without a build it says how to make one', () => {
  expect(() => measureStarts(dist, 1)).toThrow(
    `built package is not available: nothing is at ${join(dist, 'cli', 'main.js')}; run 'npm run build'`,
  );
});

test('starts every program as often as it was asked, and stops at one that fails', () => {
  mkdirSync(join(dist, 'cli'));
  writeFileSync(join(dist, 'cli', 'main.js'), '');
  writeFileSync(join(dist, 'index.js'), '');
  const rows = measureStarts(dist, 2);
  expect(rows.map(({ name, milliseconds }) => [name, milliseconds.length])).toEqual([
    ['node -e 0', 2],
    ['ragpp --help', 2],
    ["import 'rag-plusplus'", 2],
    ["import '@tensorflow/tfjs-core'", 2],
    ["import 'zod'", 2],
  ]);
  writeFileSync(join(dist, 'cli', 'main.js'), "process.stderr.write('no such word\\n'); process.exitCode = 3;");
  expect(() => measureStarts(dist, 1)).toThrow(
    'ragpp --help is not available: it ended with 3; make it run first: no such word',
  );
});

test('the table has the median and the fastest start', () => {
  const table = formatStarts([{ name: 'node -e 0', milliseconds: [53, 41, 97] }]);
  expect(table.split('\n').at(-1)?.split(/ {2,}/)).toEqual(['node -e 0', '53', '41']);
});

test('a wrong option is refused', async () => {
  await expect(benchStartup(['--runs', 'many'])).rejects.toThrow('--runs is not an integer: many; give one from 1');
});
