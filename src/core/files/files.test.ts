import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { findBuiltUrl } from '../built-module.harness.ts';
import { StorageError } from '../errors/errors.ts';
import {
  assertNoLink,
  assertReadableFolder,
  assertWritableFolder,
  makeFolder,
  makeSyncedFolder,
  readBytes,
  readFolder,
  readText,
  syncFolder,
  writeAtomic,
} from './files.ts';

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

test('a file keeps its permissions when its content is replaced', () => {
  const path = join(folder, 'script');
  writeAtomic(path, 'a');
  chmodSync(path, 0o750);
  writeAtomic(path, 'b');
  expect(statSync(path).mode & 0o777).toBe(0o750);
  expect(readText(path)).toBe('b');
});

test('a file that the system cuts short is an error, and the earlier file stays', () => {
  const path = join(folder, 'short', 'document');
  writeAtomic(path, 'earlier');
  const module = JSON.stringify(findBuiltUrl('core/files/files'));
  const program = `import { writeAtomic } from ${module}; writeAtomic(${JSON.stringify(path)}, 'x'.repeat(31_337));`;
  const node = [process.execPath, '--input-type=module', '-e', program];
  // At most 16 blocks of 1024 bytes: the first write ends there and reports fewer bytes than it was given.
  const { status, stderr } = spawnSync('bash', ['-c', 'ulimit -f 16; exec "$@"', 'bash', ...node], {
    encoding: 'utf8',
  });
  expect(stderr).toContain(`cannot write (EFBIG: file too large, write): ${path}`);
  expect(status).toBe(1);
  expect(readText(path)).toBe('earlier');
  expect(readdirSync(join(folder, 'short'))).toEqual(['document']);
});

describe('a place where no folder can be made', () => {
  // Linux denies there that the folder above exists.
  const denied = '/proc/ragpp/below';
  test.skipIf(!existsSync('/proc/self')).each([
    ['a file', () => writeAtomic(join(denied, 'x'), '')],
    ['a folder', () => makeFolder(denied)],
    ['a folder to write to', () => assertWritableFolder(denied)],
  ])('is an error for %s', (_, make) => {
    expect(make).toThrow(StorageError);
    expect(make).toThrow(/^cannot .* \(ENOENT: .*mkdir '\/proc\/ragpp'\): \/proc\/ragpp\/below/);
  });
});

test('folders are made down to the one that is wanted, through links above it', () => {
  mkdirSync(join(folder, 'real'));
  symlinkSync(join(folder, 'real'), join(folder, 'alias'));
  makeFolder(join(folder, 'alias', 'p', 'q'));
  assertReadableFolder(join(folder, 'alias', 'p', 'r'));
  expect(readdirSync(join(folder, 'real', 'p'))).toEqual(['q', 'r']);
  expect(() => assertReadableFolder(join(folder, 'b', '7.bin'))).toThrow(/^cannot read folder \(EEXIST/);
});

test('folders whose names are synced are made as others are, and named when they cannot be', () => {
  makeSyncedFolder(join(folder, 'synced', 'p', 'q'));
  makeSyncedFolder(join(folder, 'synced', 'p'));
  syncFolder(join(folder, 'synced', 'p', 'q'));
  expect(readdirSync(join(folder, 'synced', 'p'))).toEqual(['q']);
  expect(() => syncFolder(join(folder, 'synced', 'none'))).toThrow(/^cannot sync folder \(ENOENT.*none/);
  expect(() => makeSyncedFolder(join(folder, 'b', '7.bin', 'p'))).toThrow(StorageError);
});

describe('a symbolic link', () => {
  const own = join(folder, 'own');
  const theirs = join(folder, 'theirs');
  mkdirSync(own);
  mkdirSync(theirs);
  writeFileSync(join(theirs, 'file'), 'theirs');
  symlinkSync(join(theirs, 'file'), join(own, 'file'));
  symlinkSync(theirs, join(own, 'folder'));
  symlinkSync(join(theirs, 'missing'), join(own, 'dangling'));

  test.each(['file', 'folder', 'dangling'])('is not replaced by a file: %s', (name) => {
    expect(() => writeAtomic(join(own, name), 'ours')).toThrow(StorageError);
    expect(() => writeAtomic(join(own, name), 'ours')).toThrow(
      `cannot write (it is a symbolic link, which is not followed): ${join(own, name)}; remove the link`,
    );
    expect(readdirSync(theirs)).toEqual(['file']);
    expect(readText(join(theirs, 'file'))).toBe('theirs');
  });

  test.each(['file', 'folder/file', 'dangling'])('is found at a path and above it: %s', (name) => {
    expect(() => assertNoLink(join(own, name), folder)).toThrow(
      `cannot use (it is a symbolic link, which is not followed): ${join(own, name.replace('/file', ''))}; remove the link`,
    );
  });

  test('is allowed as the root that the user names; what is missing is no link', () => {
    assertNoLink(join(own, 'folder', 'file'), join(own, 'folder'));
    assertNoLink(join(own, 'folder', 'file'));
    assertNoLink(join(own, 'none', 'below'), folder);
  });
});

test('what is no regular file is not replaced', () => {
  const { status } = spawnSync('mkfifo', [join(folder, 'pipe')]);
  expect(status).toBe(0);
  for (const name of ['pipe', 'a'])
    expect(() => writeAtomic(join(folder, name), '')).toThrow(
      `cannot write (it is not a regular file; remove it): ${join(folder, name)}`,
    );
});
