import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readDocuments, readJudgements, readQueryColumn, readSystems } from './system-files.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-score-files-'));
afterAll(() => rmSync(root, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(root, name);
  writeFileSync(path, text);
  return path;
}

const trec = (tag: string) => `q1 Q0 d7 1 2.5 ${tag}\n`;

describe('names of systems', () => {
  test('are typed, or the tag, or the name of the file where the tag tells nothing apart', () => {
    const [a, b, c] = [
      write('a.trec', trec('bm25')),
      write('b.trec', trec('dense')),
      write('c.run.trec', trec('dense')),
    ];
    const d = write('d.jsonl', '{"query": "q1", "ranking": ["d7"]}\n');
    expect(readSystems([a, b, c, `mine=${a}`, d]).map(({ name, source }) => [name, source])).toEqual([
      ['a', a],
      ['b', b],
      ['c.run', c],
      ['mine', a],
      ['d', d],
    ]);
    expect(readSystems([a, b]).map(({ name }) => name)).toEqual(['bm25', 'dense']);
  });
});

describe('judgements', () => {
  const expected = new Map([
    [
      'q1',
      new Map([
        ['d7', 1],
        ['d3', 0],
      ]),
    ],
  ]); // prettier-ignore

  test.each([
    ['q1 0 d7 1\nq1 0 d3 0\n'],
    ['q1\td7\t1\nq1\td3\t0\n'],
    ['query-id\tcorpus-id\tscore\nq1\td7\t1\nq1\td3\t0\n'],
  ])('%j', (text) => {
    expect(readJudgements(write('qrels', text))).toEqual(expected);
  });

  test('that are none name the file and the line', () => {
    expect(() => readJudgements(write('empty', '\n'))).toThrow(/^file has no judgement: .*empty; name a file/);
    expect(() => readJudgements(write('bad', 'q1\td7\t1\nq1\td3\n'))).toThrow(/bad:2, got 2/);
  });
});

test('clusters are two columns or the queries of a run', () => {
  const expected = new Map([
    ['q1', 'c1'],
    ['q2', 'c1'],
  ]); // prettier-ignore
  expect(readQueryColumn(write('columns', 'q1 c1\nq2\tc1\n'), 'cluster')).toEqual(expected);
  const lines = '{"id": "q1", "text": "x", "cluster": "c1"}\n{"query": "q2", "cluster": "c1"}\n';
  expect(readQueryColumn(write('queries.jsonl', lines), 'cluster')).toEqual(expected);
  expect(() => readQueryColumn(write('one', 'q1\n'), 'cluster')).toThrow(
    /no line of clusters at .*one:1; write a query/,
  );
});

test('documents are ids, or JSON with one', () => {
  expect(readDocuments(write('ids', 'd1\nd2\n'))).toEqual(new Set(['d1', 'd2']));
  expect(readDocuments(write('corpus.jsonl', '{"_id": "d1"}\n{"id": "d2"}\n'))).toEqual(new Set(['d1', 'd2']));
  expect(() => readDocuments(write('wrong.jsonl', '{"name": "d1"}\n'))).toThrow(/no document at .*:1; write an id/);
});

test('strata are two columns, or the kinds of queries', () => {
  const expected = new Map([
    ['q1', 'exact'],
    ['q2', 'multi-hop'],
  ]);
  expect(readQueryColumn(write('strata.tsv', 'q1\texact\nq2\tmulti-hop\n'), 'kind')).toEqual(expected);
  const rows = ['{"id": "q1", "text": "soup", "kind": "exact"}', '{"query": "q2", "kind": "multi-hop"}'];
  expect(readQueryColumn(write('kinds.jsonl', rows.join('\n')), 'kind')).toEqual(expected);
  const bare = write('bare.jsonl', `${rows[0]}\n{"id": "q2", "text": "soup"}\n`);
  expect(() => readQueryColumn(bare, 'kind')).toThrow(
    /^no line of strata at .*bare\.jsonl:2; .*"kind": "paraphrase"\}$/,
  );
});
