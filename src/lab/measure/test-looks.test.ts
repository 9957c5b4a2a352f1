import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { findBuiltUrl } from '../../core/built-module.harness.ts';
import { fromTurns } from '../../data/memory/from-turns.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { describeTestSplit, type TestLook, type TestSplit } from './passport.ts';
import { formatLook } from './result.ts';
import { countLook, LOOKS_FILE, listLooks, publishLooks } from './test-looks.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-looks-'));
const results = join(root, 'results');
const runs = join(results, 'runs');
afterAll(() => rmSync(root, { recursive: true }));
beforeEach(() => {
  rmSync(results, { recursive: true, force: true });
  mkdirSync(runs, { recursive: true });
});

const split: TestSplit = {
  dataset: 'threads',
  data: 'd1',
  contents: ['0a', '0b'],
  queries: { count: 29, hash: 'all' },
};
const made = { commit: 'abc', backend: 'cpu', command: 'ragpp run x.yaml' };
const look = (run: string, of: TestSplit = split): TestLook => ({ ...of, run, ...made });
const listRuns = (path: string) =>
  (JSON.parse(readFileSync(path, 'utf8')) as { looks: TestLook[] }).looks.map(({ run }) => run);
const countNumber = (...args: Parameters<typeof look>) => countLook(runs, look(...args)).number;

describe('a look', () => {
  test('counts once for each run, however often the run is measured', () => {
    expect(['a-1', 'b-2', 'a-1', 'c-3', 'b-2'].map((run) => countNumber(run))).toEqual([1, 2, 1, 3, 2]);
    expect(listRuns(join(runs, LOOKS_FILE))).toEqual(['a-1', 'b-2', 'c-3']);
    expect(readdirSync(runs)).toEqual([LOOKS_FILE]);
  });

  test('counts by split: of data with a conversation in common, not of another dataset or folder', () => {
    const { contents: _, data: __, ...named } = split;
    expect(countNumber('named-1', named)).toBe(1);
    expect(countNumber('grown-2', { ...split, data: 'd2', contents: ['0b', '0c'] })).toBe(2);
    expect(countNumber('other-3', { ...split, data: 'd3', contents: ['0d'] })).toBe(2); // the first is known by name only
    expect(countNumber('elsewhere-4', { ...split, dataset: 'chat' })).toBe(1);
    expect(countNumber('no-home-5', { ...split, data: 'd5', contents: [] })).toBe(2);
    expect(countNumber('no-home-6', { ...split, data: 'd5', contents: [] })).toBe(3);
    expect(countNumber('this-7')).toBe(3);
  });

  test('counts by query set besides', () => {
    countNumber('a-1');
    const few = { ...split, queries: { count: 7, hash: 'few' } };
    expect(countLook(runs, look('few-2', few))).toEqual({
      dataset: 'threads',
      number: 2,
      numberAtQueries: 1,
      queries: 7,
    });
    expect(countLook(runs, look('all-3'))).toMatchObject({ number: 3, numberAtQueries: 2, queries: 29 });
    expect(countLook(runs, look('data-4', { ...split, data: 'd2' }))).toMatchObject({ number: 4, numberAtQueries: 1 });
  });

  test('that was published is not listed again, and comes before those of the folder', () => {
    writeFileSync(join(results, LOOKS_FILE), JSON.stringify({ looks: [look('old-1'), look('older-2')] }));
    expect([countNumber('new-3'), countNumber('older-2')]).toEqual([3, 2]);
    expect(listRuns(join(runs, LOOKS_FILE))).toEqual(['new-3']);
    expect(listLooks(runs).map(({ run }) => run)).toEqual(['old-1', 'older-2', 'new-3']);
  });

  test('of one of several processes is never lost', async () => {
    const program = join(root, 'count.mjs');
    writeFileSync(
      program,
      `import { existsSync, writeFileSync } from 'node:fs';
      import { countLook } from ${JSON.stringify(findBuiltUrl('lab/measure/test-looks'))};
      const [, , runs = '', name = '', others = ''] = process.argv;
      const isReady = (other) => existsSync(runs + '-ready-' + other);
      writeFileSync(runs + '-ready-' + name, '');
      while (!others.split(',').every(isReady)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      const look = ${JSON.stringify(look('?'))};
      for (let i = 0; i < 29; i++) countLook(runs, { ...look, run: name + '-' + i });`,
    );
    const names = ['a', 'b', 'c'];
    const start = (name: string) => promisify(execFile)(process.execPath, [program, runs, name, names.join()]);
    await Promise.all(names.map(start));
    const counted = names.flatMap((name) => Array.from({ length: 29 }, (_, i) => `${name}-${i}`));
    expect(listRuns(join(runs, LOOKS_FILE)).sort()).toEqual(counted.sort());
    expect(readdirSync(runs)).toEqual([LOOKS_FILE]);
  });

  test.each(['{', '[]', '{"looks":[{}]}'])('is in no file such as %s', (text) => {
    const path = join(runs, LOOKS_FILE);
    writeFileSync(path, text);
    expect(() => countNumber('a-1')).toThrow(
      `not a list of looks at test splits: ${path}; restore the file from a backup`,
    );
    expect(readFileSync(path, 'utf8')).toBe(text);
  });
});

describe('publishing a run', () => {
  test('publishes every listed look at its split, and no other', () => {
    countNumber('own-1', { ...split, dataset: 'mine' });
    publishLooks(join(runs, 'a-1'), results);
    expect(readdirSync(results)).toEqual(['runs']);
    for (const run of ['tried-2', 'a-1']) countNumber(run);
    for (let i = 0; i < 2; i++) publishLooks(join(runs, 'a-1'), results);
    expect(listRuns(join(results, LOOKS_FILE))).toEqual(['tried-2', 'a-1']);
    expect(countNumber('tried-2')).toBe(1);
  });
});

describe('the test split of measured queries', () => {
  const turns = Array.from({ length: 5 }, (_, i) => ({
    id: `t${i}`,
    conversationId: `c${i}`,
    timestamp: i + 1,
    text: `turn ${i}`,
  }));
  const asked = [0, 1, 2, 3].map((i) => ({ id: `q${i}`, text: `question ${i}` }));
  const dataset: Dataset = fromTurns(turns, asked, Object.fromEntries(asked.map(({ id }, i) => [id, [`t${i}`]])));
  const queries = dataset.queries.map((query, i): Query => ({ ...query, split: i < 3 ? 'test' : 'dev' }));
  const mixed: Dataset = { ...dataset, queries };

  test('is none of dev queries', () => {
    expect(describeTestSplit(mixed, queries.slice(3))).toBeNull();
    expect(describeTestSplit(mixed, [])).toBeNull();
  });

  test('has the contents of the whole split, and the test queries among those that are measured, in any order', () => {
    const all = describeTestSplit(mixed, queries) as TestSplit;
    expect(all).toMatchObject({ dataset: 'memory', data: dataset.hash.slice(0, 16), queries: { count: 3 } });
    expect(all.contents).toHaveLength(3);
    expect(describeTestSplit(mixed, [...queries].reverse())).toEqual(all);
    const some = describeTestSplit(mixed, queries.slice(1)) as TestSplit;
    expect(some.contents).toEqual(all.contents);
    expect(some.queries?.count).toBe(2);
    expect(some.queries?.hash).not.toBe(all.queries?.hash);
  });
});

test('a look is a sentence', () => {
  const numbered = { dataset: 'threads', number: 3, numberAtQueries: 3, queries: 29 };
  expect(formatLook(numbered)).toBe('Look 3 at the test split of threads (29 test queries).');
  expect(formatLook({ ...numbered, numberAtQueries: 1 })).toBe(
    'Look 3 at the test split of threads (29 test queries, look 1 at these queries).',
  );
});
