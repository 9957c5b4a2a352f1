import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { readJudgementFile } from '../judging/judgement-file.ts';
import { readDocuments, readJudgements, readQueryColumn, readSystems } from './system-files.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-packed-systems-'));
afterAll(() => rmSync(root, { recursive: true }));

function write(name: string, content: string | Uint8Array): string {
  const path = join(root, name);
  writeFileSync(path, content);
  return path;
}

/** Longer than what is read of a file at once. */
const queries = Array.from({ length: 1_007 }, (_, q) => q);
const ranks = Array.from({ length: 53 }, (_, rank) => rank);
const formatLine = (query: number, rank: number) =>
  `q${query} Q0 document-${(query * 31 + rank * 7) % 1_009} ${rank + 1} ${9 - rank / 7} mine\n`;
const trec = queries.flatMap((query) => ranks.map((rank) => formatLine(query, rank))).join('');
const scattered = ranks.flatMap((rank) => queries.map((query) => formatLine(query, rank))).join('');
const json = queries
  .map(
    (query) => `${JSON.stringify({ query: `q${query}`, ranking: ranks.map((rank) => `d${(query + rank) % 61}`) })}\n`,
  )
  .join('');

const read = (path: string) => readSystems([`mine=${path}`]).map(({ source: _, ...system }) => system);

describe('a system is the same', () => {
  test.each([
    ['TREC', trec],
    ['JSONL', json],
  ])('from a file of gzip: %s', (name, text) => {
    const plain = read(write(`${name}.run`, text));
    expect(plain[0]?.run.size).toBe(queries.length);
    expect(plain[0]?.warnings).toEqual([]);
    expect(read(write(`${name}.gz`, gzipSync(text)))).toEqual(plain);
  });

  test('where the lines of a query are not together, but for the identity of the lines', () => {
    const [{ hash, ...together }] = read(write('together', trec)) as [ReturnType<typeof read>[0] & object];
    const [{ hash: other, ...apart }] = read(write('apart', scattered)) as [ReturnType<typeof read>[0] & object];
    expect(apart).toEqual(together);
    expect(other).not.toBe(hash);
  });

  test.each([
    ['together', trec],
    ['apart', scattered],
  ])('from a pipe, which can be read once: lines %s', (name, text) => {
    const pipe = join(root, `${name}.pipe`);
    execFileSync('mkfifo', [pipe]);
    const path = write(`${name}.piped`, text);
    execFileSync('sh', ['-c', `(cat ${path} > ${pipe}) > /dev/null 2>&1 &`]);
    expect(read(pipe)).toEqual(read(path));
  });
});

test('faults of lines are found where the lines of a query are not together', () => {
  const lines = ['q1 Q0 a 1 3 s', 'q2 Q0 a 1 nan s', 'q1 Q0 a 2 2 s', 'q2 Q0 b 2 1 s', 'q1 Q0 c 3 5 s'];
  const path = write('faulty', `${lines.join('\n')}\n`);
  const [system] = readSystems([path]);
  expect(system?.warnings.map(({ code }) => code)).toEqual([
    'score-not-finite',
    'repeated-document',
    'rank-disagrees-with-score',
  ]);
  expect(system?.warnings[1]?.message).toContain(
    `1 lines repeat a document of their query, and only its first line counts (a at ${path}:3)`,
  );
  expect(Array.from(system?.run ?? [])).toEqual([
    [
      'q1',
      [
        { id: 'c', score: 5 },
        { id: 'a', score: 3 },
      ],
    ],
    ['q2', [{ id: 'b', score: 1 }]],
  ]);
});

test.each([
  ['of trec_eval', 'q1 0 d7 1\nq1 0 d3 0\n'],
  ['of BEIR', 'query-id\tcorpus-id\tscore\nq1\td7\t1\nq1\td3\t0\n'],
])('judgements %s are read from a file of gzip', (name, text) => {
  expect(readJudgements(write(`${name}.gz`, gzipSync(text)))).toEqual(
    new Map([
      [
        'q1',
        new Map([
          ['d7', 1],
          ['d3', 0],
        ]),
      ],
    ]),
  ); // prettier-ignore
});

test('columns of queries and documents are read from files of gzip', () => {
  const clusters = readQueryColumn(write('clusters.gz', gzipSync('q1 c1\nq2\tc1\n')), 'cluster');
  expect(Object.fromEntries(clusters)).toEqual({ q1: 'c1', q2: 'c1' });
  const documents = queries.map((query) => `{"id": "${'d'.repeat(2_000)}${query}"}\n`).join(''); // several parts
  expect(readDocuments(write('documents.gz', gzipSync(documents))).size).toBe(queries.length);
});

test.each([
  ['qrels', 'q1 0 d7 1\n'],
  ['rows', '{"query": "q1", "id": "d7", "grade": 1}\n'],
])('judgements of a judge are read from a file of gzip: %s', (name, text) => {
  const plain = readJudgementFile(write(`${name}.plain`, text), 'ann');
  expect(plain.judgements).toHaveLength(1);
  expect(readJudgementFile(write(`${name}.gz`, gzipSync(text)), 'ann')).toEqual(plain);
});
