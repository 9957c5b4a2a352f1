import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-cache-'));
afterAll(() => rmSync(root, { recursive: true }));
const cache = join(root, 'cache');
const runCache = (...words: string[]) => runRagpp('cache', ...words, '--cache', cache);

function put(folder: string, name: string, mebibytes: number, moment: string): void {
  mkdirSync(join(cache, folder), { recursive: true });
  const path = join(cache, folder, name);
  writeFileSync(path, Buffer.alloc(mebibytes * 2 ** 20));
  utimesSync(path, new Date(moment), new Date(moment));
}

const listCacheFiles = () =>
  readdirSync(cache, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.includes('.'))
    .sort();

beforeEach(() => {
  rmSync(cache, { recursive: true, force: true });
  put('stages/pool', 'a.safetensors', 1, '2024-05-01T10:00:30Z');
  put('stages/pool', 'b.safetensors', 2, '2024-05-03T11:59:00Z');
  put('stages/cosine', 'c.safetensors', 3, '2024-05-02T00:00:00Z');
  put('embeddings', 'e.safetensors', 1, '2023-12-31T23:59:59Z');
});

test('ls adds up each stage, and then the rest', async () => {
  expect(await runCache('ls')).toEqual({
    code: 0,
    stderr: '',
    stdout: [
      'stage         files  MiB  oldest             newest',
      'cosine        1      3.0  2024-05-02 00:00Z  2024-05-02 00:00Z',
      'pool          2      3.0  2024-05-01 10:00Z  2024-05-03 11:59Z',
      '(embeddings)  1      1.0  2023-12-31 23:59Z  2023-12-31 23:59Z',
      'total         4      7.0',
      '',
    ].join('\n'),
  });
});

test('ls of a cache that is not there says so', async () => {
  const { code, stdout } = await runRagpp('cache', 'ls', '--cache', join(root, 'none'));
  expect({ code, stdout }).toEqual({ code: 0, stdout: `nothing in ${join(root, 'none')}\n` });
});

describe('gc', () => {
  test('deletes the least recently used stages until the size is kept', async () => {
    const { code, stdout } = await runCache('gc', '--max-size', '2.5');
    expect(code).toBe(0);
    expect(stdout).toBe('cosine: 1 files, 3.0 MiB\npool: 1 files, 1.0 MiB\ndeleted 2 of 4 files, 4.0 of 7.0 MiB\n');
    expect(listCacheFiles()).toEqual(['embeddings/e.safetensors', 'stages/pool/b.safetensors']);
  });

  test('deletes what was not used for some days', async () => {
    const now = new Date().toISOString();
    put('stages/pool', 'b.safetensors', 2, now);
    expect((await runCache('gc', '--older-than', '1')).stdout).toMatch(/deleted 2 of 4 files, 4\.0 of 7\.0 MiB\n$/);
    expect(listCacheFiles()).toEqual(['embeddings/e.safetensors', 'stages/pool/b.safetensors']);
  });

  test('deletes the stages that are named', async () => {
    await runCache('gc', '--stage', 'cosine', '--stage', 'embeddings');
    expect(listCacheFiles()).toEqual(['stages/pool/a.safetensors', 'stages/pool/b.safetensors']);
  });

  test('deletes nothing in a dry run', async () => {
    const before = listCacheFiles();
    const { stdout } = await runCache('gc', '--max-size', '0', '--dry-run');
    expect(stdout).toMatch(/would delete 3 of 4 files, 6\.0 of 7\.0 MiB\n$/);
    expect(listCacheFiles()).toEqual(before);
  });

  test.each([
    [[], 'error: no rule for deletion; give --older-than, --max-size or --stage'],
    [['--dry-run'], 'error: no rule for deletion; give --older-than'],
    [['--max-size', '-1'], "argument '-1' is invalid. not a number from 0; give one such as 30."],
    [['--older-than', 'long'], "argument 'long' is invalid. not a number from 0; give one such as 30."],
    [
      ['--stage', 'pol'],
      '--stage: expected one of cosine, pool, embeddings, tokens, datasets, unfinished, got "pol"; did you mean pool?',
    ],
  ])('refuses %j, exits with 2 and deletes nothing', async (words, message) => {
    const before = listCacheFiles();
    const { code, stderr } = await runCache('gc', ...words);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(listCacheFiles()).toEqual(before);
  });
});
