import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConfigurationError, StorageError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { noteProgress } from '../../core/terminal/progress.harness.ts';
import { OWN_GOLDEN, readGolden, TOPICS, verify } from './verify.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-golden-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('there is a golden file for every topic, and none besides', () => {
  expect(
    readGolden(OWN_GOLDEN)
      .map(({ topic }) => topic)
      .sort(),
  ).toEqual(TOPICS.map(({ name }) => name).sort());
});

beforeAll(() => useBackend('cpu'));

test('every topic passes', async () => {
  const files = readGolden(OWN_GOLDEN);
  const total = files.reduce((sum, { cases }) => sum + cases.length, 0);
  const { stages, progress } = noteProgress();
  const reports = await verify(files, progress);
  expect(stages).toEqual([['golden cases', total, total]]);
  expect(reports.flatMap(({ topic, failures }) => failures.map((failure) => `${topic}: ${failure}`))).toEqual([]);
  expect(reports.every(({ cases }) => cases > 0)).toBe(true);
});

test('a wrong expectation, a case that throws and an unknown topic are failures', async () => {
  const path = join(folder, 'fusion.json');
  for (const name of ['fusion.json', 'stats.json']) cpSync(join(OWN_GOLDEN, name), join(folder, name));
  const file = JSON.parse(readFileSync(path, 'utf8'));
  file.cases[0].expected.d16 += 1e-6;
  file.cases[1].method = 'unheard-of';
  writeFileSync(path, JSON.stringify(file));
  writeFileSync(
    join(folder, 'zodiac.json'),
    JSON.stringify({ topic: 'zodiac', note: '', cases: [{ name: 'a', expected: 1 }] }),
  );
  const failing = (await verify(readGolden(folder))).filter(({ failures }) => failures.length > 0);
  expect(failing.map(({ topic, failures }) => [topic, failures.length])).toEqual([
    ['fusion', 2],
    ['zodiac', 1],
  ]);
  expect(failing[0]?.failures[0]).toContain('d16');
});

test('a folder without golden files and a file of another form are refused', () => {
  const empty = mkdtempSync(join(folder, 'empty-'));
  expect(() => readGolden(empty)).toThrow(StorageError);
  expect(() => readGolden(join(folder, 'none'))).toThrow(StorageError);
  writeFileSync(join(empty, 'x.json'), '{"topic": "x", "cases": []}');
  expect(() => readGolden(empty)).toThrow(ConfigurationError);
  writeFileSync(join(empty, 'x.json'), '{');
  expect(() => readGolden(empty)).toThrow(StorageError);
});
