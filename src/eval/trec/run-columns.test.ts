import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import type { Run } from '../../model/run.ts';
import { compareScored } from '../../model/turns/tie-rule.ts';
import { evaluate } from '../metrics/evaluate.ts';
import { parseRun } from './trec-files.ts';

type Row = readonly [query: string, id: string, score: number];

/** The rankings of rows by a map of arrays; the number of the first row that repeats a document. */
function listRankings(rows: readonly Row[]): Run | number {
  const rankings = new Map<string, { id: string; score: number }[]>();
  for (const [i, [query, id, score]] of rows.entries()) {
    const ranking = rankings.get(query) ?? [];
    if (ranking.some((other) => other.id === id)) return i + 1;
    rankings.set(query, [...ranking, { id, score }]);
  }
  return new Map(Array.from(rankings, ([query, ranking]) => [query, ranking.sort(compareScored)]));
}

function parseRows(rows: readonly Row[]): Run | number {
  try {
    return new Map(parseRun(rows.map(([query, id, score]) => `${query} Q0 ${id} 1 ${score} t\n`).join(''), 'x'));
  } catch (error) {
    return Number(/repeats a document at x:(\d+): /.exec((error as Error).message)![1]);
  }
}

const id = fc.constantFrom('d', 'd1', 'd10', 'doc-7', 'doc-8', 'é', 'e', '😀', '\uffee', 'doc-70', 'coc-7');
const row: fc.Arbitrary<Row> = fc.tuple(fc.constantFrom('a', 'b', 'ab', 'ü'), id, fc.constantFrom(0, 1, -1, 0.5));

test('rows in any order are those of their queries, or the first repeated document is named', () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 30 }), (rows) => {
      expect(parseRows(rows)).toEqual(listRankings(rows));
    }),
    { numRuns: 2000, seed: 1 },
  );
});

/** More rows than one block of rows and of bytes has, with queries that come back. */
function drawRows(): Row[] {
  const random = createRandom(5, 'run columns');
  return Array.from({ length: 13 }, (_, part) =>
    Array.from({ length: 1009 }, (_, i): Row => {
      const name = `${'long-name-of-a-document-'.repeat(1 + random.integer(2))}${1009 * part + i}`;
      return [`q${part % 11}`, name, random.integer(700)];
    }),
  ).flat();
}

test('a run of many blocks has every row', () => {
  const rows = drawRows();
  const run = parseRows(rows) as Run;
  expect(rows.length).toBeGreaterThan(3 * 4096);
  const sorted = rows.map(([query, name, score]) => ({ query, id: name, score })).sort(compareScored);
  for (const query of new Set(rows.map(([of]) => of)))
    expect(run.get(query)).toEqual(sorted.filter((one) => one.query === query).map(({ id, score }) => ({ id, score })));
});

test('the grades of a run that was read are those of its rankings', () => {
  const rows = drawRows();
  const read = parseRun(rows.map(([query, name, score]) => `${query} Q0 ${name} 1 ${score} t\n`).join(''), 'x');
  const random = createRandom(6, 'judgements');
  const judge = (query: string) =>
    new Map([
      ...rows
        .filter(([of]) => of === query && random.integer(50) === 0)
        .map(([, name]) => [name, random.integer(5) - 1] as const),
      ['é', 2] as const,
      ['none'.repeat(99), 1] as const,
    ]);
  const qrels = new Map(['q3', 'unknown', 'q0', 'q10'].map((query) => [query, judge(query)]));
  const options = { relevantGrade: 2, unanswerable: 'count', holeDepth: 10 } as const;
  const metrics = ['ndcg@10', 'map', 'recall@100', 'rr', 'bpref', 'err'];
  expect(evaluate(read, qrels, metrics, options)).toEqual(evaluate(new Map(read), qrels, metrics, options));
  expect(evaluate(read, qrels, ['map'], options).values.map!.filter((value) => value > 0)).toHaveLength(3);
});

test('judgements that are no numbers, and tokens of documents, are handled as those of any run', () => {
  const read = parseRun('q Q0 a 1 2 t\nq Q0 b 2 1 t\n', 'x');
  const options = { relevantGrade: 1, unanswerable: 'count', holeDepth: 10 } as const;
  expect(() => evaluate(read, new Map([['q', new Map([['b', Number.NaN]])]]), ['map'], options)).toThrow('document b');
  const qrels = new Map([['q', new Map([['b', 1]])]]);
  const measure = (tokens: number) =>
    evaluate(read, qrels, ['recall@500t'], { ...options, countTokens: () => tokens }).values['recall@500t'];
  expect([measure(250), measure(251)]).toEqual([[1], [0]]);
});
