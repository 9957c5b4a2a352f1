import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { formatJudgements, formatPool, type PoolLine, readJudgementFile, readPool } from './judgement-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'judgements-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

const ROW: PoolLine = {
  queryId: 'q1',
  queryText: 'red lentils',
  id: 't7',
  text: 'A quarter\nof an hour.',
  stratum: 'exact',
  generator: 'gpt-4o',
  sensitive: false,
  grade: null,
  judge: null,
};
const ROWS: PoolLine[] = [ROW, { ...ROW, id: 't8', stratum: null, sensitive: true, grade: 3, judge: 'ana' }];

test('a pool is read back as it was written, with the grade last for the judge to fill in', () => {
  const path = write('pool.jsonl', formatPool(ROWS));
  expect(readPool(path)).toEqual(ROWS);
  expect(readFileSync(path, 'utf8').split('\n')[0]).toMatch(/"grade":null\}$/);
});

test('a filled-in pool is a file of judgements; its other lines are open', () => {
  const path = write('filled.jsonl', formatPool([...ROWS, { ...ROW, id: 't9', grade: 0 }]));
  expect(readJudgementFile(path, 'ana')).toEqual({
    judgements: [
      { queryId: 'q1', id: 't8', grade: 3, judge: 'ana', stratum: null, generator: 'gpt-4o' },
      { queryId: 'q1', id: 't9', grade: 0, judge: 'ana', stratum: 'exact', generator: 'gpt-4o' },
    ],
    open: 1,
  });
});

test('judgements alone keep their judges, those of TREC files have the given one', () => {
  const judgements = [
    { queryId: 'q1', id: 'a', grade: 2, judge: 'ana' },
    { queryId: 'q1', id: 'a', grade: 1, judge: 'bea' },
  ];
  const path = write('alone.jsonl', formatJudgements(judgements));
  expect(readJudgementFile(path, null).judgements).toEqual(
    judgements.map((one) => ({ ...one, stratum: null, generator: null })),
  );
  const trec = write('qrels.trec', 'q1 0 a 2\nq1 0 b 0\n');
  expect(readJudgementFile(trec, 'ana').judgements).toEqual([
    { queryId: 'q1', id: 'a', grade: 2, judge: 'ana', stratum: null, generator: null },
    { queryId: 'q1', id: 'b', grade: 0, judge: 'ana', stratum: null, generator: null },
  ]);
});

test.each([
  ['a grade beyond the scale', 'q1 0 a 4\n', 'ana', 'expected a grade of 0, 1, 2, 3, got 4'],
  ['a negative grade', '{"query":"q1","id":"a","grade":-1}', 'ana', 'grade: expected a grade of 0, 1, 2, 3, got -1'],
  ['half a grade', '{"query":"q1","id":"a","grade":1.5}', 'ana', 'got 1.5'],
  ['no judge', 'q1 0 a 2\n', null, 'no judge: name the judge, as in NAME='],
  ['no judge in a row', '{"query":"q1","id":"a","grade":1}', null, 'name the judge, as in NAME='],
  ['another judge', '{"query":"q1","id":"a","grade":1,"judge":"bea"}', 'ana', 'expected ana, got bea'],
  ['an unknown key', '{"query":"q1","id":"a","grades":1}', 'ana', 'unknown key "grades"'],
  ['a pair twice', 'q1 0 a 2\nq1 0 a 2\n', 'ana', 'judged twice: q1 a'],
])('%s is an error', (_, content, judge, message) => {
  const path = write('wrong', content);
  expect(() => readJudgementFile(path, judge)).toThrow(ValidationError);
  expect(() => readJudgementFile(path, judge)).toThrow(message);
});

test('a pool without a row, with a repeated pair or without texts is an error', () => {
  expect(() => readPool(write('empty.jsonl', ''))).toThrow(
    /pool has no row: .*empty\.jsonl; write it with ragpp judge/,
  );
  expect(() => readPool(write('twice.jsonl', formatPool([ROW, { ...ROW, judge: 'ana' }])))).toThrow(
    'judged twice: q1 t7',
  );
  const bare = write('bare.jsonl', formatJudgements([{ queryId: 'q1', id: 'a', grade: 2, judge: 'ana' }]));
  expect(() => readPool(bare)).toThrow(/queryText: expected string, got nothing/);
});
