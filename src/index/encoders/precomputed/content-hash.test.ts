import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { StorageError } from '../../../core/errors/errors.ts';
import { hashFileContent } from './content-hash.ts';

const root = mkdtempSync(join(tmpdir(), 'content-hash-'));
afterAll(() => rmSync(root, { recursive: true }));
const sha256 = (content: string) => createHash('sha256').update(content).digest('hex');

test('a file has the SHA-256 of its bytes, also beyond a part', () => {
  for (const content of ['', 'abc', 'x'.repeat(2 ** 22 + 7)]) {
    writeFileSync(join(root, 'v'), content);
    expect(hashFileContent(join(root, 'v'))).toBe(sha256(content));
  }
});

test('a change of the same size and time is noticed', () => {
  const path = join(root, 'same');
  const moment = new Date(Date.UTC(2024, 1, 3));
  for (const content of ['one', 'two']) {
    writeFileSync(path, content);
    utimesSync(path, moment, moment);
    expect(hashFileContent(path)).toBe(sha256(content));
  }
});

test('a missing file is an error with its whole path', () => {
  expect(() => hashFileContent(join(root, 'none'))).toThrow(StorageError);
  expect(() => hashFileContent('none-at-all.npy')).toThrow(join(process.cwd(), 'none-at-all.npy'));
});
