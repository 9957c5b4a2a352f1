import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { StorageError } from '../../core/errors/errors.ts';
import { writeRunFolder } from './run-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-run-'));
afterAll(() => rmSync(root, { recursive: true }));

test('a run replaces the one before it as a whole and leaves nothing beside it', () => {
  const folder = join(root, 'runs', 'x-1');
  writeRunFolder(folder, { 'a.txt': 'old', 'runs/gone.trec': 'old' });
  writeRunFolder(folder, { 'a.txt': 'new', 'runs/b.trec': 'b' });
  expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('new');
  expect(readdirSync(join(folder, 'runs'))).toEqual(['b.trec']);
  expect(readdirSync(join(root, 'runs'))).toEqual(['x-1']);
});

test('where it cannot write, the error names the folder and nothing half-written stays', () => {
  const parent = join(root, 'blocked');
  mkdirSync(parent);
  writeFileSync(join(parent, 'file'), '');
  const folder = join(parent, 'file', 'x-1');
  expect(() => writeRunFolder(folder, { 'a.txt': 'a' })).toThrow(StorageError);
  expect(() => writeRunFolder(folder, { 'a.txt': 'a' })).toThrow(folder);
  expect(readdirSync(parent)).toEqual(['file']);
});
