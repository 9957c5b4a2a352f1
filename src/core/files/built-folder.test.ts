import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { UnavailableError } from '../errors/errors.ts';
import { buildFolder, measureFolder, removeBuiltFolder } from './built-folder.ts';

let root: string;
let target: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ragpp-built-'));
  target = join(root, 'kinds', 'one');
});
afterEach(() => rmSync(root, { recursive: true }));

const allow = () => {};
const build = (write: (folder: string, around: string) => void, assertFree = allow) =>
  buildFolder(target, 'sample', assertFree, async (folder, around) => write(folder, around));

test('a folder has its place once it is whole, and is made under its own name', async () => {
  await build((folder, around) => {
    expect(folder).toBe(join(around, 'kinds', 'one'));
    expect(existsSync(target)).toBe(false);
    writeFileSync(join(folder, 'mark'), 'whole');
  });
  expect(readdirSync(target)).toEqual(['mark']);
  expect(readdirSync(join(root, 'kinds'))).toEqual(['one']);
});

test('what failed leaves what is around the folder, or nothing', async () => {
  await expect(build(fail)).rejects.toThrow('broken');
  expect(readdirSync(join(root, 'kinds'))).toEqual([]);
  const failLater = (_: string, around: string) => {
    writeFileSync(join(around, 'download'), 'whole');
    fail();
  };
  await expect(build(failLater)).rejects.toThrow('broken');
  expect(readdirSync(join(root, 'kinds', 'one.partial'))).toEqual(['download']);
  await build((_, around) => expect(existsSync(join(around, 'download'))).toBe(true));
  expect(readdirSync(join(root, 'kinds'))).toEqual(['one']);
});

function fail(): never {
  throw new Error('broken');
}

test('a place that is taken, and a folder that another attempt makes, are left alone', async () => {
  await expect(build(() => {}, fail)).rejects.toThrow('broken');
  expect(existsSync(join(root, 'kinds'))).toBe(false);
  await buildFolder(target, 'sample', allow, async () => {
    await expect(build(() => {})).rejects.toThrow(UnavailableError);
    expect(() => removeBuiltFolder(target, 'sample', 'mark')).toThrow(UnavailableError);
  });
});

test('a folder with its mark, and what an attempt left, are removed', async () => {
  expect(removeBuiltFolder(target, 'sample', 'mark')).toBe(false);
  mkdirSync(target, { recursive: true });
  expect(removeBuiltFolder(target, 'sample', 'mark')).toBe(false);
  writeFileSync(join(target, 'mark'), '');
  mkdirSync(`${target}.partial`);
  expect(removeBuiltFolder(target, 'sample', 'mark')).toBe(true);
  expect(readdirSync(join(root, 'kinds'))).toEqual([]);
});

test('the bytes of a folder are those of its files, each once', () => {
  mkdirSync(join(root, 'inner'));
  writeFileSync(join(root, 'inner', 'a'), Buffer.alloc(700));
  writeFileSync(join(root, 'b'), Buffer.alloc(11));
  symlinkSync(join('inner', 'a'), join(root, 'link'));
  symlinkSync('nowhere', join(root, 'dangling'));
  expect(measureFolder(root)).toEqual({ files: 2, bytes: 711 });
});
