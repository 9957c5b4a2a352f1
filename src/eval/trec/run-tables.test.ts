import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluate } from '../metrics/evaluate.ts';
import { createQrels, createRun, listRunRows } from './run-tables.ts';

const plain = { q1: { d1: 0.25, d2: 0.5, d3: 0.25 }, q2: { d9: -1 } };
const run = new Map([
  [
    'q1',
    [
      { id: 'd2', score: 0.5 },
      { id: 'd3', score: 0.25 },
      { id: 'd1', score: 0.25 },
    ],
  ],
  ['q2', [{ id: 'd9', score: -1 }]],
]);
const rows = [
  { q_id: 'q1', doc_id: 'd1', score: 0.25 },
  { q_id: 'q2', doc_id: 'd9', score: -1 },
  { q_id: 'q1', doc_id: 'd2', score: 0.5 },
  { q_id: 'q1', doc_id: 'd3', score: 0.25 },
];

describe('a run is read from', () => {
  test.each([
    ['a plain object', plain],
    ['a Map', new Map(Object.entries(plain).map(([query, scores]) => [query, new Map(Object.entries(scores))]))],
    ['rows', rows],
    ['rows of PyTerrier', rows.map(({ q_id, doc_id, score }) => ({ qid: q_id, docno: doc_id, rank: 1, score }))],
    [
      'columns',
      {
        query_id: rows.map(({ q_id }) => q_id),
        doc_id: rows.map(({ doc_id }) => doc_id),
        score: Float64Array.from(rows, ({ score }) => score),
      },
    ],
    [
      'a data frame of danfo',
      { columns: ['q_id', 'doc_id', 'score'], values: rows.map((row) => Object.values(row)), index: [0, 1, 2, 3] },
    ],
    ['a data frame of arquero', { objects: () => rows, columnNames: () => ['q_id'] }],
    ['a data frame of polars', { toRecords: () => rows, columns: ['q_id', 'doc_id', 'score'] }],
  ])('%s', (_, source) => {
    expect(createRun(source as Parameters<typeof createRun>[0])).toEqual(run);
  });

  test('columns of any name, with numbers as ids', () => {
    const written = [{ topic: 7, passage: 12n, similarity: 0.5, score: 3 }];
    const columns = { query: 'topic', document: 'passage', score: 'similarity' };
    expect(createRun(written, columns)).toEqual(new Map([['7', [{ id: '12', score: 0.5 }]]]));
  });

  test('nothing: no query, and a query without documents', () => {
    expect(createRun([])).toEqual(new Map());
    expect(createRun({})).toEqual(new Map());
    expect(createRun({ q1: {} })).toEqual(new Map([['q1', []]]));
  });
});

test('judgements are read from the same, and their columns are those of three programs', () => {
  const expected = new Map([['q1', new Map([['d1', 2]])]]);
  expect(createQrels({ q1: { d1: 2 } })).toEqual(expected);
  for (const column of ['relevance', 'label', 'grade', 'score'])
    expect(createQrels([{ query_id: 'q1', doc_id: 'd1', [column]: 2 }])).toEqual(expected);
});

test.each([
  [{ q1: { d1: '0.9' } }, 'score of query q1, document d1 is not a finite number: "0.9"; pass a number'],
  [{ q1: { d1: Number.NaN } }, 'score of query q1, document d1 is not a finite number: NaN; pass a number'],
  [{ q1: { d1: null } }, 'score of query q1, document d1 is not a finite number: null; pass a number'],
  [{ q1: 0.9 }, 'query q1 has no object of scores: 0.9; pass { document: score }'],
  [{ q1: { d1: 1 }, q2: ['d1'] }, 'query q2 has no object of scores: ["d1"]; pass { document: score }'],
  ['q1', 'scores are neither an object nor a table: "q1"; pass { query: { document: score } } or rows'],
  [
    [{ q_id: 'q1', score: 1 }],
    'table has no column for the document, such as doc_id, docno, docid, document: q_id, score; name it in columns.document',
  ],
  [[...rows, rows[0]], 'row 4 repeats document d1 of query q1; list it once'],
  [[{ q_id: 'q1', doc_id: '', score: 1 }], 'document id of row 0 is not a text or a whole number: ""; pass an id'],
  [
    [rows[0], { q_id: 1.5, doc_id: 'd', score: 1 }],
    'query id of row 1 is not a text or a whole number: 1.5; pass an id',
  ],
  [
    [rows[0], { q_id: 'q1', doc_id: 'd' }],
    'score of query q1, document d is not a finite number: undefined; pass a number',
  ],
  [[rows[0], 'q1'], 'row 1 is no object: "q1"; pass rows such as { query_id, doc_id, score }'],
  [
    { query_id: ['q1'], doc_id: ['d1', 'd2'] },
    'columns have different lengths: query_id 1, doc_id 2; pass a value for each row',
  ],
  [
    { columns: ['q_id', 'doc_id'], values: [['q1']] },
    'row 0 of the data frame has 1 cells for 2 columns; pass a cell for each column',
  ],
])('%j is refused', (source, message) => {
  expect(() => createRun(source as Parameters<typeof createRun>[0])).toThrow(
    expect.objectContaining({ name: 'ValidationError', message }),
  );
});

test('an unknown column and a grade that is not whole are refused', () => {
  expect(() => createRun(rows, { query: 'q_ids' })).toThrow('table has no column: q_ids; use q_id');
  expect(() => createQrels({ q1: { d1: 0.5 } })).toThrow(
    'grade of query q1, document d1 is not whole: 0.5; use whole grades',
  );
});

test('what is converted and read again is the same', () => {
  const table = fc.dictionary(
    fc.string({ minLength: 1, maxLength: 3 }),
    fc.dictionary(fc.string({ minLength: 1, maxLength: 3 }), fc.integer({ min: 0, max: 3 }), { minKeys: 1 }),
  );
  fc.assert(
    fc.property(table, (scores) => {
      const ranked = createRun(scores);
      expect(createRun(listRunRows(ranked))).toEqual(ranked);
    }),
  );
});

test('three lines score a run of anybody', () => {
  const qrels = createQrels([{ query_id: 'q1', doc_id: 'd3', relevance: 1 }]);
  const options = { relevantGrade: 1, unanswerable: 'apart', holeDepth: 10 } as const;
  expect(evaluate(createRun(plain), qrels, ['RR', 'nDCG@10'], options).values).toEqual({
    RR: [1 / 2],
    'nDCG@10': [1 / Math.log2(3)],
  });
});
