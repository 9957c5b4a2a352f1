import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readDocumentTexts, readQueryFile } from './query-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'judging-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, rows: readonly unknown[]): string {
  const path = join(folder, name);
  writeFileSync(path, rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join(''));
  return path;
}

test('queries state stratum, generator and sources, and need no time', () => {
  const path = write('queries.jsonl', [
    { id: 'q1', text: 'lentils', kind: 'exact', generator: 'gpt-4o', sources: ['t1'], timestamp: 7 },
    { id: 'q2', text: 'a secret', attributes: { sensitive: true } },
  ]);
  expect(readQueryFile(path)).toEqual([
    { id: 'q1', text: 'lentils', stratum: 'exact', generator: 'gpt-4o', sources: ['t1'], sensitive: false },
    { id: 'q2', text: 'a secret', stratum: null, generator: null, sources: [], sensitive: true },
  ]);
});

test('every invalid query is named, a typing error among them', () => {
  const path = write('wrong.jsonl', [
    { id: 'q1', text: 'lentils', generater: 'gpt-4o' },
    { id: 'q2', text: 'lentils', sources: [] },
    { id: 'q3', text: 'lentils' },
    { id: 'q3', text: 'beans' },
  ]);
  expect(() => readQueryFile(path)).toThrow(
    /^3 errors in .*wrong\.jsonl:1: .*generater.*jsonl:2: .*sources.*jsonl:4: duplicate id: q3/s,
  );
});

test('documents are turns, or documents of BEIR with their titles', () => {
  const path = write('documents.jsonl', [
    { id: 't1', conversationId: 'c', parentId: null, timestamp: 1, text: 'red', attributes: { sensitive: true } },
    { _id: 'd7', title: 'Beans', text: 'green', metadata: {} },
    { _id: 'd8', title: '', text: 'blue' },
  ]);
  expect([...readDocumentTexts(path)]).toEqual([
    ['t1', { text: 'red', sensitive: true }],
    ['d7', { text: 'Beans\ngreen', sensitive: false }],
    ['d8', { text: 'blue', sensitive: false }],
  ]);
  const wrong = write('no-ids.jsonl', [{ text: 'red' }, { id: 'a', text: 'x' }, { _id: 'a', text: 'y' }]);
  expect(() => readDocumentTexts(wrong)).toThrow(/no-ids\.jsonl:1: .*id or _id.*no-ids\.jsonl:3: duplicate id: a/s);
});
