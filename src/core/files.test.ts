import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { StorageError } from './errors.ts';
import { assertWritableFolder, readBytes, readFolder, readText, writeAtomic } from './files.ts';

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

test('reads bytes as they are, and names in order', () => {
  mkdirSync(join(folder, 'b'));
  for (const name of ['7.bin', '13.bin', '2.bin']) writeFileSync(join(folder, 'b', name), Uint8Array.of(0xff, 0));
  expect([...readBytes(join(folder, 'b', '7.bin'))]).toEqual([0xff, 0]);
  expect(readFolder(join(folder, 'b'))).toEqual(['13.bin', '2.bin', '7.bin']);
});

test.each([readText, readBytes, readFolder])('what is not there is named by %o', (read) => {
  expect(() => read(join(folder, 'none'))).toThrow(StorageError);
  expect(() => read(join(folder, 'none'))).toThrow(/cannot read .*none/);
});
