import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { StorageError } from './errors.ts';
import { assertWritableFolder, readText, writeAtomic } from './files.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('writes text and exactly the bytes of a view, making folders, leaving no temporary file', () => {
  writeAtomic(join(folder, 'a/b.txt'), 'grün');
  expect(readText(join(folder, 'a/b.txt'))).toBe('grün');
  writeAtomic(join(folder, 'a/c.bin'), Uint8Array.of(1, 2, 3, 4).subarray(1, 3));
  expect([...readFileSync(join(folder, 'a/c.bin'))]).toEqual([2, 3]);
  expect(readdirSync(join(folder, 'a'))).toEqual(['b.txt', 'c.bin']);
});

test('a folder that cannot be made is named', () => {
  writeFileSync(join(folder, 'file'), '');
  const blocked = join(folder, 'file', 'below');
  expect(() => assertWritableFolder(blocked)).toThrow(StorageError);
  expect(() => assertWritableFolder(blocked)).toThrow(blocked);
  expect(() => writeAtomic(join(blocked, 'x'), '')).toThrow(StorageError);
  expect(existsSync(blocked)).toBe(false);
});

test('a file that is not there is named', () => {
  expect(() => readText(join(folder, 'none'))).toThrow(/cannot read .*none/);
});
