import { expect, test } from 'vitest';
import { runStudy } from '../study.harness.ts';
import { createStudyCommand } from '../study.ts';
import { PARTS } from './parts.ts';
import { memory } from './study.ts';
import type { CorpusMemory } from './table.ts';

const TURNS = 121;

test('memory: bytes that the layout of the parts explains', async () => {
  const options = ['synthetic={turns: 701, dimension: 37}', 'm=5'];
  const { figures, table } = await runStudy(createStudyCommand(memory), 'memory', ...options);
  const corpora = figures.corpora as CorpusMemory[];
  expect(corpora.map(({ name, dimension }) => [name, dimension])).toEqual([
    ['jsonl', 13],
    ['synthetic', 37],
  ]);
  expect(corpora[0]?.turns).toBe(TURNS);
  const { turns, bytes } = corpora[1] as CorpusMemory;
  expect(turns).toBeGreaterThanOrEqual(701);
  expect(Object.keys(bytes)).toEqual([...PARTS]);
  const slack = 30_000; // of the measurement, see held-bytes.ts
  expect(Math.abs(bytes.embedding - 37 * 4 * turns)).toBeLessThan(slack);
  // hnswlib: on the lowest layer 2 M links and their number, 4 bytes each, and a label of 8; above it M links and their number for one node of M in M - 1 at all.
  const lowest = (2 * 5 + 1) * 4 + 8;
  expect(bytes['hnsw graph'] / turns).toBeGreaterThan(lowest + 4);
  expect(bytes['hnsw graph'] / turns).toBeLessThan(lowest + 4 + (5 + 1) * 4 * 0.5 + 1);
  // Nine columns of 4 and two of 8 bytes at least, and the lists of siblings.
  expect(bytes.coordinates / turns).toBeGreaterThan(9 * 4 + 2 * 8 - 8);
  expect(bytes.coordinates / turns).toBeLessThan(400);
  expect(bytes.text / turns).toBeGreaterThan(100);
  expect(bytes['bm25 postings'] / turns).toBeGreaterThan(20 * 12);
  expect(table).toMatch(/^\| all +\|/m);
});
