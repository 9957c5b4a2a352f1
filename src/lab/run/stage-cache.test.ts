import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { findBuiltModule } from '../../core/built-module.harness.ts';
import { ChecksumMismatchError, StorageError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import type { Artifact, Stage } from '../../rank/signals/stage.ts';
import { type RaceOutcome, race } from './racing-process.harness.ts';
import { StageCache } from './stage-cache.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-stages-'));
afterAll(() => rmSync(root, { recursive: true }));
const buildKeyedStage = (key: string): Stage => ({
  name: 'some-stage',
  key: computeHash(key),
  inputs: [],
  isKept: true,
});
const artifact: Artifact = {
  width: 3,
  reach: Number.POSITIVE_INFINITY,
  names: ['depth', 'é'],
  positions: Int32Array.of(5, -1, 2),
  scores: Float32Array.of(0.1, -0, Number.NaN),
  moments: Float64Array.of(1 / 3),
  coldStart: Uint8Array.of(1, 0),
};

describe('a stage cache', () => {
  const cache = new StageCache(join(root, 'a'));

  test('gives back what was written, and null for what was not', () => {
    cache.write(buildKeyedStage('x'), artifact);
    expect(cache.read(buildKeyedStage('x'))).toEqual(artifact);
    expect(cache.read(buildKeyedStage('y'))).toBeNull();
    expect(cache.read({ ...buildKeyedStage('x'), name: 'other-stage' })).toBeNull();
  });

  test('keeps each stage in a folder of its own', () => {
    expect(cache.joinStagePath(buildKeyedStage('x'))).toBe(
      join(root, 'a', 'stages', 'some-stage', `${computeHash('x')}.safetensors`),
    );
  });

  test('leaves what is there as it is', () => {
    const path = cache.joinStagePath(buildKeyedStage('x'));
    const bytes = readFileSync(path);
    cache.write(buildKeyedStage('x'), { width: 4 });
    expect(readFileSync(path)).toEqual(bytes);
  });

  test('notes when a file was last used', () => {
    const path = cache.joinStagePath(buildKeyedStage('x'));
    utimesSync(path, 1000, 1000);
    cache.read(buildKeyedStage('x'));
    expect(statSync(path).mtimeMs).toBeGreaterThan(Date.UTC(2020, 0));
  });

  const path = cache.joinStagePath(buildKeyedStage('damaged'));
  test.each<[string, () => void, string]>([
    ['cut', () => writeFileSync(path, readFileSync(path).subarray(0, -3)), 'needs bytes'],
    ['empty', () => writeFileSync(path, ''), 'too few'],
    [
      'altered in its numbers',
      () => writeFileSync(path, Buffer.concat([readFileSync(path).subarray(0, -1), Buffer.of(2)])),
      'its checksum differs',
    ],
    [
      'altered in its facts',
      () => writeFileSync(path, readFileSync(path, 'latin1').replace('width\\":3', 'width\\":4'), 'latin1'),
      'the checksum of its header differs',
    ],
    [
      'that of another stage',
      () => copyFileSync(cache.joinStagePath(buildKeyedStage('x')), path),
      'it holds another stage',
    ],
  ])('refuses a file that is %s, and says what to delete', (_, damage, reason) => {
    rmSync(path, { force: true });
    cache.write(buildKeyedStage('damaged'), artifact);
    damage();
    const read = () => cache.read(buildKeyedStage('damaged'));
    expect(read).toThrow(ChecksumMismatchError);
    expect(read).toThrow(reason);
    expect(read).toThrow(`damaged file ${path}: `);
    expect(read).toThrow(/; delete the file and run again, with --retry-failed to resume a run$/);
    rmSync(path);
    expect(read()).toBeNull();
  });
});

describe('a symbolic link below the cache folder', () => {
  const theirs = join(root, 'theirs');
  const cacheFolder = join(root, 'linked');
  const cache = new StageCache(cacheFolder);
  const path = cache.joinStagePath(buildKeyedStage('x'));
  mkdirSync(theirs);

  test.each([
    ['stages', dirname(dirname(path)), theirs],
    ['a stage', dirname(path), theirs],
    ['a file', path, join(theirs, 'file')],
    ['nothing', path, join(theirs, 'missing')],
  ])('in the place of %s is refused, and what it points to stays', (_, link, pointed) => {
    rmSync(cacheFolder, { recursive: true, force: true });
    mkdirSync(dirname(link), { recursive: true });
    writeFileSync(join(theirs, 'file'), 'theirs');
    symlinkSync(pointed, link);
    expect(() => cache.read(buildKeyedStage('x'))).toThrow(`which is not followed): ${link}; remove the link`);
    expect(() => cache.write(buildKeyedStage('x'), artifact)).toThrow(StorageError);
    expect(readdirSync(theirs)).toEqual(['file']);
    expect(readFileSync(join(theirs, 'file'), 'utf8')).toBe('theirs');
  });
});

/** Every file below a folder with its bytes. */
function readContents(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  return Object.fromEntries(files.sort().map((name) => [name, computeHash(readFileSync(join(folder, name)))]));
}

test('processes that race for the same stages end with the same results, and the bytes that one alone leaves', async () => {
  const together = join(root, 'together');
  const program = findBuiltModule('lab/run/racing-process.harness');
  const children = [1, 2].map(() => fork(program, { execArgv: [] }));
  try {
    await Promise.all(children.map((child) => once(child, 'message')));
    const outcomes = children.map((child) => once(child, 'message'));
    for (const child of children) child.send(together);
    const alone = await race(join(root, 'alone'));
    for (const outcome of outcomes) expect(((await outcome)[0] as RaceOutcome).hash).toBe(alone.hash);
    expect(readContents(together)).toEqual(readContents(join(root, 'alone')));
    expect(Object.keys(readContents(together)).length).toBeGreaterThan(40);
    const again = await race(together);
    expect(again.hash).toBe(alone.hash);
    expect(again.counts.large).toMatchObject({ executed: 0, memory: 0, disk: 23 });
  } finally {
    for (const child of children) child.kill();
  }
}, 30_000);
