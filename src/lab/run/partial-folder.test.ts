import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { StorageError, UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { PartialFolder } from './partial-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-partial-'));
afterAll(() => rmSync(root, { recursive: true }));
const target = join(root, 'x-1');
const partial = `${target}.partial`;
beforeEach(() => {
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
});

const read = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8');
/** A finished run with a record, and what `resume` needs. */
function leaveFinishedRun(): void {
  const folder = PartialFolder.open(target, 'fresh');
  folder.write({ 'state.json': '{}', 'arms/a.safetensors': 'a' });
  folder.finish({ 'metrics.json': 'first', 'more/bytes': Uint8Array.of(1, 2, 3) });
}

test('a finished folder holds the files of the start and of the end, and no folder beside it is left', () => {
  leaveFinishedRun();
  expect(readdirSync(root)).toEqual(['x-1']);
  expect(readdirSync(target).sort()).toEqual(['arms', 'metrics.json', 'more', 'state.json']);
  expect([...readFileSync(join(target, 'more', 'bytes'))]).toEqual([1, 2, 3]);
});

test('one at a time has the folder', () => {
  const folder = PartialFolder.open(target, 'fresh');
  folder.write({ 'arms/a': 'a' });
  for (const opening of ['fresh', 'resume', 'retry-failed'] as const)
    expect(() => PartialFolder.open(target, opening)).toThrow(UnavailableError);
  expect(read(partial, 'arms/a')).toBe('a');
  folder.release();
  PartialFolder.open(target, 'resume').release();
});

describe('what an earlier run left', () => {
  test('is gone for a fresh start', () => {
    leaveFinishedRun();
    const unfinished = PartialFolder.open(target, 'fresh');
    unfinished.write({ 'state.json': '{}', 'arms/a': 'a' });
    unfinished.release();
    PartialFolder.open(target, 'fresh').finish({ b: 'b' });
    expect(readdirSync(target)).toEqual(['b']);
  });

  test('unfinished, stays as it is for a resumption', () => {
    const unfinished = PartialFolder.open(target, 'fresh');
    unfinished.write({ 'state.json': '{}', 'arms/a': 'a' });
    unfinished.release();
    const folder = PartialFolder.open(target, 'resume');
    expect(read(partial, 'arms/a')).toBe('a');
    folder.release();
  });

  test('unfinished, loses what was being written when its process was killed', () => {
    const unfinished = PartialFolder.open(target, 'fresh');
    unfinished.write({ 'state.json': '{}', 'arms/a.safetensors': 'a' });
    unfinished.release();
    for (const name of ['config.yaml.3141592653', 'arms/b.safetensors.2718281828'])
      writeFileSync(join(partial, name), 'half');
    PartialFolder.open(target, 'resume').finish({});
    expect(readdirSync(target, { recursive: true }).sort()).toEqual(['arms', 'arms/a.safetensors', 'state.json']);
  });

  test('finished, is copied for a resumption, and stays until that is done', () => {
    leaveFinishedRun();
    const folder = PartialFolder.open(target, 'retry-failed');
    expect(readdirSync(partial).sort()).toEqual(['arms', 'lock', 'state.json']);
    expect(read(partial, 'arms/a.safetensors')).toBe('a');
    folder.release();
    expect(read(target, 'metrics.json')).toBe('first');
  });

  test('half copied from a finished run, is copied once more', () => {
    leaveFinishedRun();
    mkdirSync(join(partial, 'arms'), { recursive: true });
    writeFileSync(join(partial, 'arms', 'a.safetensors'), '');
    PartialFolder.open(target, 'resume').release();
    expect(read(partial, 'arms/a.safetensors')).toBe('a');
  });

  test('a lock that was not in place yet when its process was killed, is a fresh start', () => {
    mkdirSync(partial);
    writeFileSync(join(partial, 'lock.4711'), '');
    PartialFolder.open(target, 'fresh').finish({ b: 'b' });
    expect(readdirSync(target)).toEqual(['b']);
  });

  test('nothing at all, is a fresh start', () => {
    PartialFolder.open(target, 'resume').finish({ b: 'b' });
    expect(readdirSync(target)).toEqual(['b']);
  });
});

describe('a process that was killed while it swapped the folders', () => {
  test('after the old one was moved away: that one is put back', () => {
    mkdirSync(`${target}.replaced`);
    writeFileSync(join(`${target}.replaced`, 'old'), 'old');
    PartialFolder.open(target, 'fresh').release();
    expect(read(target, 'old')).toBe('old');
    expect(existsSync(`${target}.replaced`)).toBe(false);
  });

  test('after the new one was put in place: the old one is taken away', () => {
    leaveFinishedRun();
    mkdirSync(`${target}.replaced`);
    PartialFolder.open(target, 'fresh').finish({ new: 'new' });
    expect(readdirSync(root)).toEqual(['x-1']);
    expect(readdirSync(target)).toEqual(['new']);
  });
});

describe('what is not ours is left as it is', () => {
  const OPENINGS = ['fresh', 'resume', 'retry-failed'] as const;
  const theirs = join(root, 'theirs');
  beforeEach(() => {
    mkdirSync(theirs);
    writeFileSync(join(theirs, 'thesis'), 'years');
  });

  function expectRefusal(opening: (typeof OPENINGS)[number], link: string): void {
    expect(() => PartialFolder.open(target, opening)).toThrow(StorageError);
    expect(() => PartialFolder.open(target, opening)).toThrow(`which is not followed): ${link}; remove the link`);
    expect(readdirSync(theirs)).toEqual(['thesis']);
    expect(read(theirs, 'thesis')).toBe('years');
  }

  test.each(['', '.partial', '.replaced'])('a link in the place of <run>%s', (suffix) => {
    symlinkSync(theirs, `${target}${suffix}`);
    for (const opening of OPENINGS) expectRefusal(opening, `${target}${suffix}`);
  });

  test('a link in the place of the records, and of a single one', () => {
    mkdirSync(partial);
    writeFileSync(join(partial, 'state.json'), '{}');
    symlinkSync(theirs, join(partial, 'arms'));
    for (const opening of ['resume', 'retry-failed'] as const) expectRefusal(opening, join(partial, 'arms'));
    rmSync(join(partial, 'arms'));
    mkdirSync(join(partial, 'arms'));
    symlinkSync(join(theirs, 'thesis'), join(partial, 'arms', 'a.safetensors'));
    expectRefusal('resume', join(partial, 'arms', 'a.safetensors'));
    PartialFolder.open(target, 'fresh').finish({ b: 'b' });
    expect(readdirSync(theirs)).toEqual(['thesis']);
  });

  test('a link in a finished run that is to be resumed', () => {
    leaveFinishedRun();
    rmSync(join(target, 'arms'), { recursive: true });
    symlinkSync(theirs, join(target, 'arms'));
    expectRefusal('resume', join(target, 'arms'));
  });

  test('a folder of files that no run has made', () => {
    mkdirSync(partial);
    writeFileSync(join(partial, 'thesis'), 'years');
    for (const opening of OPENINGS) {
      expect(() => PartialFolder.open(target, opening)).toThrow(ValidationError);
      expect(() => PartialFolder.open(target, opening)).toThrow(
        `folder was not made by a run: ${partial}; move it away`,
      );
    }
    expect(readdirSync(partial)).toEqual(['thesis']);
  });
});
