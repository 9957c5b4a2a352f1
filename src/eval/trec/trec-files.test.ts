import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NotFiniteError } from '../../core/errors/errors.ts';
import type { Qrels, Run } from '../../model/run.ts';
import { compareScored, type Scored } from '../../model/turns/tie-rule.ts';
import {
  encodeQrels,
  formatQrels,
  formatRun,
  parseQrels,
  parseRun,
  readQrels,
  readRun,
  writeQrels,
  writeRun,
} from './trec-files.ts';

const text = `q1 Q0 b 1 0.30000000000000004 bm25
q1 Q0 a 2 0.3 bm25
q2 Q0 c 1 1e-7 bm25
`;

test('writes best first with ranks from 1 and the shortest exact decimals', () => {
  const run: Run = new Map([
    [
      'q1',
      [
        { id: 'a', score: 0.3 },
        { id: 'b', score: 0.1 + 0.2 },
      ],
    ],
    ['none', []],
    ['q2', [{ id: 'c', score: 1e-7 }]],
  ]);
  expect(formatRun(run, 'bm25')).toBe(text);
});

test('moves a score down where 32 bits would reverse the order', () => {
  const run: Run = new Map([
    [
      'q1',
      [
        { id: 'a', score: 0.1 + 0.2 },
        { id: 'b', score: 0.3 },
        { id: 'c', score: 0.3 - 1e-17 },
        { id: 'd', score: 0.2 },
      ],
    ],
  ]);
  const ranking = parseRun(formatRun(run, 't'), 'text').get('q1') as readonly Scored[];
  expect(ranking.map(({ id }) => id)).toEqual(['a', 'c', 'b', 'd']);
  expect(ranking.map(({ score }) => Math.fround(score))).toEqual([
    Math.fround(0.3),
    Math.fround(0.3) - 2 ** -25,
    Math.fround(0.3) - 2 * 2 ** -25,
    Math.fround(0.2),
  ]);
  expect(ranking[3]?.score).toBe(0.2);
});

test('a score that was moved down stays above its successor in 64 bits', () => {
  const scored = [
    { id: 'c', score: 1 },
    { id: 'd', score: 1 - 2 ** -53 },
    { id: 'b', score: 1 - 2 ** -24 + 2 ** -40 },
  ];
  const back = parseRun(formatRun(new Map([['q', scored]]), 't'), 'text').get('q');
  expect(back).toEqual([
    { id: 'c', score: 1 },
    { id: 'd', score: 1 - 2 ** -24 },
    { id: 'b', score: 1 - 2 * 2 ** -24 },
  ]);
});

/** Scores that are often equal, or equal in 32 bits only. */
const score = fc.oneof(
  fc.constantFrom(0, -0, 0.3, 0.1 + 0.2, 1, 1 + 2 ** -52, -1, -1 - 2 ** -52, 1e-60, -1e-60, 2 ** -149),
  fc.double({ min: -1e30, max: 1e30, noNaN: true }),
);
const ranking = fc.uniqueArray(
  fc.record({ id: fc.string({ minLength: 1 }).map((id) => `d${id.replaceAll(/\s/g, '_')}`), score }),
  {
    selector: ({ id }) => id,
    maxLength: 29,
    minLength: 1,
  },
);

test('every reader gets the same ranking back, in 64 and in 32 bits', () => {
  fc.assert(
    fc.property(ranking, (scored) => {
      const ids = scored.toSorted(compareScored).map(({ id }) => id);
      const back = parseRun(formatRun(new Map([['q', scored]]), 't'), 'text').get('q') as readonly Scored[];
      expect(back.map(({ id }) => id)).toEqual(ids);
      const floats = back.map(({ id, score: read }) => ({ id, score: Math.fround(read) }));
      expect(floats.sort(compareScored).map(({ id }) => id)).toEqual(ids);
    }),
    { numRuns: 500 },
  );
});

test('scores come back exactly where 32 bits keep them apart', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 29 }),
      (scores) => {
        const scored = scores.map((one, i) => ({ id: `d${i}`, score: one })).sort(compareScored);
        const distinct = scored.filter(({ score: one }, i) => i === 0 || one !== scored[i - 1]?.score);
        const back = parseRun(formatRun(new Map([['q', distinct]]), 't'), 'text').get('q');
        expect(back?.map((one) => one.score + 0)).toEqual(distinct.map((one) => one.score + 0));
      },
    ),
  );
});

test('judgements come back', () => {
  const qrels: Qrels = new Map([
    [
      'q1',
      new Map([
        ['a', 2],
        ['b', 0],
      ]),
    ],
    ['q2', new Map([['a', -1]])],
  ]);
  expect(formatQrels(qrels)).toBe('q1 0 a 2\nq1 0 b 0\nq2 0 a -1\n');
  expect(parseQrels(formatQrels(qrels), 'text')).toEqual(qrels);
  expect(new TextDecoder().decode(encodeQrels(qrels))).toBe(formatQrels(qrels));
});

test('lines of queries may alternate, and a document that comes back is found in any of them', () => {
  const rounds = Array.from({ length: 5 }, (_, round) =>
    ['a', 'b', 'a'].map((query, i) => `${query} Q0 d${round}.${i} 1 ${round} t`),
  );
  const lines = rounds.flat();
  const run = parseRun(lines.join('\n'), 'text');
  expect([...run].map(([query, ranking]) => [query, ranking.length])).toEqual([
    ['a', 10],
    ['b', 5],
  ]);
  expect(run.get('b')?.map(({ id }) => id)).toEqual(['d4.1', 'd3.1', 'd2.1', 'd1.1', 'd0.1']);
  for (const [place, repeated] of [...lines.entries()])
    expect(() => parseRun([...lines, repeated].join('\n'), 'x'), `${place}`).toThrow(
      `repeats a document at x:16: ${repeated.split(' ')[2]}; remove the line`,
    );
  const judged = lines.map((line) => line.split(' ').slice(0, 4).join(' '));
  expect(parseQrels(judged.join('\n'), 'x').get('b')?.size).toBe(5);
  expect(() => parseQrels([...judged, judged[1]].join('\n'), 'x')).toThrow('query b repeats a document at x:16: d0.1;');
});

test('files come back', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trec-'));
  try {
    const qrels: Qrels = new Map([['q', new Map([['a', 1]])]]);
    const run: Run = new Map([['q', [{ id: 'a', score: 0.1 }]]]);
    writeQrels(join(folder, 'qrels'), qrels);
    writeRun(join(folder, 'run'), run, 't');
    expect(readQrels(join(folder, 'qrels'))).toEqual(qrels);
    expect(new Map(readRun(join(folder, 'run')))).toEqual(run);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('reads tabs, blank lines and Windows line ends', () => {
  const run = parseRun('q\tQ0\ta  1 0.5\tt\r\n\r\n', 'text');
  expect([...run]).toEqual([['q', [{ id: 'a', score: 0.5 }]]]);
});

test.each(['two words', 'tab\tbed', 'no\u00a0break', ''])('refuses the id %j', (id) => {
  const message = `document id is empty or has white space: ${JSON.stringify(id)}; use one word`;
  expect(() => formatRun(new Map([['q', [{ id, score: 1 }]]]), 't')).toThrow(
    expect.objectContaining({ name: 'ValidationError', message: message }),
  );
  expect(() => formatQrels(new Map([['q', new Map([[id, 1]])]]))).toThrow(
    expect.objectContaining({ name: 'ValidationError', message: message }),
  );
  expect(() => formatRun(new Map([[id, []]]), 't')).toThrow('query id is empty or has white space: ');
  expect(() => formatRun(new Map(), id)).toThrow('tag is empty or has white space: ');
});

test('refuses what the format cannot say', () => {
  expect(() => formatQrels(new Map([['q', new Map([['a', 0.5]])]]))).toThrow(
    'grade of document a for query q is not whole: 0.5; use whole grades',
  );
  expect(() => formatRun(new Map([['q', [{ id: 'a', score: 1e39 }]]]), 't')).toThrow(NotFiniteError);
});

test.each([
  ['q Q0 a 1 0.5', 'expected 6 columns at run.txt:1, got 5: q Q0 a 1 0.5; correct the line'],
  ['q Q0 a 1 0.5 t\nq Q0 b 2 high t', 'score at run.txt:2 is not a number: high; correct the line'],
  ['q Q0 a 1 0.5 t\nq Q0 a 2 0.4 t', 'query q repeats a document at run.txt:2: a; remove the line'],
])('names the faulty line of %j', (faulty, message) => {
  expect(() => parseRun(faulty, 'run.txt')).toThrow(
    expect.objectContaining({ name: 'ValidationError', message: message }),
  );
});
