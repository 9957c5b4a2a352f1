import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { StorageError } from '../errors/errors.ts';
import { readJsonLines } from './text-lines.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-json-lines-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'rows.jsonl');
const readWrittenLines = (content: string) => {
  writeFileSync(path, content);
  return readJsonLines(path, (line, where) => [JSON.parse(line), where]);
};

test('every line is a row with its place, the last one with or without its line feed', () => {
  const rows = [
    [{ a: 3 }, `${path}:1`],
    [{ a: 5 }, `${path}:2`],
  ];
  expect(readWrittenLines('{"a":3}\n{"a":5}\n')).toEqual(rows);
  expect(readWrittenLines('{"a":3}\n{"a":5}')).toEqual(rows);
  expect(readWrittenLines('')).toEqual([]);
});

test('an empty line within is a row that the reader of rows has to judge', () => {
  expect(() => readWrittenLines('{"a":3}\n\n{"a":5}\n')).toThrow(SyntaxError);
  expect(() => readJsonLines(join(folder, 'absent'), String)).toThrow(StorageError);
});
