import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type CacheFile,
  cacheFiles,
  cacheParts,
  cacheSizeRemark,
  deleteFiles,
  type GarbageOptions,
  selectGarbage,
} from './cache-contents.ts';

const DAY_MILLISECONDS = 86_400_000;
const NOW = Date.UTC(2024, 4, 17);
const root = mkdtempSync(join(tmpdir(), 'ragpp-cache-contents-'));
afterAll(() => rmSync(root, { recursive: true }));

const buildCacheFile = (part: string, name: string, bytes: number, daysAgo: number): CacheFile => ({
  part,
  path: `${part}/${name}`,
  bytes,
  usedAt: NOW - daysAgo * DAY_MILLISECONDS,
});
const files = [
  buildCacheFile('pool', 'b', 7, 3),
  buildCacheFile('cosine', 'c', 11, 29),
  buildCacheFile('embeddings', 'e', 1000, 97),
  buildCacheFile('pool', 'a', 5, 3),
  buildCacheFile('unfinished', 'old', 2, 1.01),
  buildCacheFile('cosine', 'd', 13, 31),
  buildCacheFile('unfinished', 'new', 3, 0.99),
  buildCacheFile('bm25', 'f', 17, 0),
];

describe('garbage', () => {
  test.each<[string, GarbageOptions, string[]]>([
    ['old files of stages', { parts: [], olderThanDays: 30 }, ['cosine/d']],
    ['nothing that is exactly as old', { parts: [], olderThanDays: 31 }, []],
    ['the least recently used ones over a size', { parts: [], maxBytes: 29 }, ['cosine/d', 'cosine/c']],
    ['ties by path', { parts: [], maxBytes: 24 }, ['cosine/d', 'cosine/c', 'pool/a']],
    ['nothing below the size', { parts: [], maxBytes: 53 }, []],
    ['what is too old, though it would fit', { parts: [], olderThanDays: 28, maxBytes: 40 }, ['cosine/d', 'cosine/c']],
    ['everything over nothing', { parts: [], maxBytes: 0 }, ['cosine/d', 'cosine/c', 'pool/a', 'pool/b', 'bm25/f']],
    ['a whole stage', { parts: ['pool'] }, ['pool/a', 'pool/b']],
    ['a stage down to a size of its own', { parts: ['pool'], maxBytes: 7 }, ['pool/a']],
    ['embeddings where they are named', { parts: ['embeddings', 'bm25'] }, ['embeddings/e', 'bm25/f']],
    ['no unfinished file that may be being written', { parts: ['unfinished'] }, []],
  ])('is %s', (_, options, expected) => {
    expect(selectGarbage(files, options, NOW).map(({ path }) => path)).toEqual([...expected, 'unfinished/old']);
  });
});

function put(path: string, bytes: number, daysAgo = 0): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), Buffer.alloc(bytes));
  utimesSync(join(root, path), NOW / 1000 - daysAgo * 86_400, NOW / 1000 - daysAgo * 86_400);
}

describe('the files of a cache', () => {
  test('are none where there is no folder', () => {
    expect(cacheFiles(join(root, 'none'))).toEqual([]);
  });

  test('are grouped by part, and added up', () => {
    put('stages/pool/x.safetensors', 3, 5);
    put('stages/pool/y.safetensors', 7, 2);
    put('stages/bm25/z.safetensors', 11);
    put('stages/bm25/z.safetensors.123', 13);
    put('embeddings/lsa-1/2.vectors', 17);
    put('tokens/bert-1/1.tokens', 19);
    put('datasets/mail.jsonl', 19);
    put('somebody-elses.txt', 23);
    put('stages/notes.txt', 29);
    for (const path of ['logs/syslog.1', 'notes.2', 'stages/notes.3', 'stages/pool/old/x.safetensors.5'])
      put(path, 31, 7);
    const parts = cacheParts(cacheFiles(root));
    expect(parts.map(({ part, files: count, bytes }) => [part, count, bytes])).toEqual([
      ['bm25', 1, 11],
      ['pool', 2, 10],
      ['embeddings', 1, 17],
      ['tokens', 1, 19],
      ['datasets', 1, 19],
      ['unfinished', 1, 13],
    ]);
    expect(parts[1]).toMatchObject({ oldest: NOW - 5 * DAY_MILLISECONDS, newest: NOW - 2 * DAY_MILLISECONDS });
  });

  test('are deleted, also where somebody was first', () => {
    put('stages/pool/x.safetensors', 3);
    const doomed = cacheFiles(root).filter(({ part }) => part === 'pool');
    rmSync(join(root, 'stages/pool/y.safetensors'));
    deleteFiles(doomed);
    expect(existsSync(join(root, 'stages/pool/x.safetensors'))).toBe(false);
    expect(existsSync(join(root, 'stages/bm25/z.safetensors'))).toBe(true);
  });
});

test('links are neither listed nor followed: what they point to would be deleted', () => {
  const cache = join(root, 'linked');
  mkdirSync(join(cache, 'stages', 'pool'), { recursive: true });
  mkdirSync(join(root, 'theirs'));
  writeFileSync(join(root, 'theirs', 'thesis'), 'years');
  symlinkSync(join(root, 'theirs'), join(cache, 'stages', 'cosine'));
  symlinkSync(join(root, 'theirs'), join(cache, 'datasets'));
  symlinkSync(join(root, 'theirs', 'thesis'), join(cache, 'stages', 'pool', 'x.safetensors'));
  expect(cacheFiles(cache)).toEqual([]);
});

test('a cache above 1 GiB is mentioned with what to do, a smaller one is not', () => {
  const cache = join(root, 'large');
  mkdirSync(join(cache, 'stages', 'pool'), { recursive: true });
  for (const name of ['a', 'b']) {
    writeFileSync(join(cache, 'stages', 'pool', name), '');
    truncateSync(join(cache, 'stages', 'pool', name), 2 ** 29); // a hole, which takes no place
  }
  expect(cacheSizeRemark(cache)).toBeNull();
  truncateSync(join(cache, 'stages', 'pool', 'a'), 2 ** 30);
  expect(cacheSizeRemark(cache)).toBe(
    `the cache holds 1.5 GiB; ragpp cache gc --older-than 30 deletes what was not used for 30 days: ${cache}`,
  );
});
