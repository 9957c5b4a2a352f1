import { expect, test } from 'vitest';
import { readDisplay } from '../../core/display/display.harness.ts';
import { NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import type { Qrels, Run } from '../../model/run.ts';
import { createRun } from '../trec/run-tables.ts';
import { evaluate, summarise } from './evaluate.ts';

const qrels: Qrels = new Map([
  [
    'q1',
    new Map([
      ['a', 1],
      ['b', 2],
      ['c', 0],
    ]),
  ],
  ['absent', new Map([['a', 2]])],
  [
    'hopeless',
    new Map([
      ['a', 1],
      ['c', 0],
    ]),
  ],
  ['q2', new Map([['c', 2]])],
]);

const run: Run = new Map([
  [
    'q2',
    [
      { id: 'x', score: 0.5 },
      { id: 'c', score: 0.5 },
    ],
  ],
  [
    'q1',
    [
      { id: 'a', score: 0.1 },
      { id: 'b', score: 0.9 },
    ],
  ],
  ['hopeless', [{ id: 'a', score: 1 }]],
  ['stray', [{ id: 'a', score: 1 }]],
]);

const options = { relevantGrade: 2, unanswerable: 'apart', holeDepth: 3 } as const;

test('gives a value a judged query, in the order of the judgements', () => {
  const evaluation = evaluate(run, qrels, ['mrr@10', 'recall@1', 'num_rel_ret'], options);
  expect(evaluation).toEqual({
    queryIds: ['q1', 'absent', 'q2'],
    values: { 'mrr@10': [1, 0, 1 / 2], 'recall@1': [1, 0, 0], num_rel_ret: [1, 0, 1] },
    holes: [0, 0, 1],
    coverage: {
      // the first 10
      'mrr@10': [
        { retrieved: 2, judged: 2 },
        { retrieved: 0, judged: 0 },
        { retrieved: 2, judged: 1 },
      ],
      // the first 1; x comes before c
      'recall@1': [
        { retrieved: 1, judged: 1 },
        { retrieved: 0, judged: 0 },
        { retrieved: 1, judged: 0 },
      ],
      // the first 3, since there is no cutoff
      num_rel_ret: [
        { retrieved: 2, judged: 2 },
        { retrieved: 0, judged: 0 },
        { retrieved: 2, judged: 1 },
      ],
    },
    unanswerable: ['hopeless'],
    missing: ['absent'],
    unjudged: ['stray'],
  });
  expect(summarise(evaluation)).toEqual({ 'mrr@10': 1.5 / 3, 'recall@1': 1 / 3, num_rel_ret: 2 });
});

test('counts queries without a relevant document where asked to', () => {
  const evaluation = evaluate(run, qrels, ['mrr@10', 'ndcg@10'], { ...options, unanswerable: 'count' });
  expect(evaluation.queryIds).toEqual(['q1', 'absent', 'hopeless', 'q2']);
  expect(evaluation.unanswerable).toEqual(['hopeless']);
  expect(evaluation.values['mrr@10']).toEqual([1, 0, 0, 1 / 2]);
  expect(evaluation.values['ndcg@10']?.[2]).toBe(1);
});

test('counts unjudged documents to the depth asked for', () => {
  const many: Run = new Map([['q2', Array.from({ length: 7 }, (_, i) => ({ id: `x${i}`, score: i }))]]);
  const depths = [1, 3, 11].map((holeDepth) => evaluate(many, qrels, [], { ...options, holeDepth }).holes.at(-1));
  expect(depths).toEqual([1, 3, 7]);
});

test('refuses what cannot be measured', () => {
  const broken: Run = new Map([['q2', [{ id: 'c', score: Number.NaN }]]]);
  expect(() => evaluate(broken, qrels, ['map'], options)).toThrow(NotFiniteError);
  expect(() => evaluate(broken, qrels, ['map'], options)).toThrow('score is not finite at query q2, document c: NaN');
  expect(() => evaluate(run, qrels, ['maps'], options)).toThrow('unknown metric: maps; use map');
  expect(() => evaluate(run, qrels, ['map'], { ...options, relevantGrade: 0 })).toThrow(
    expect.objectContaining({
      name: 'ValidationError',
      message: 'relevantGrade is not a finite number above 0: 0; pass the lowest relevant grade',
    }),
  );
  expect(() => evaluate(run, qrels, ['map'], { ...options, holeDepth: 1.5 })).toThrow(
    expect.objectContaining({
      name: 'ValidationError',
      message: 'holeDepth is not a whole number from 1: 1.5; pass a rank',
    }),
  );
  expect(() => summarise(evaluate(run, new Map(), ['map'], options))).toThrow(ValidationError);
});

test('values have the names that the caller wrote', () => {
  const { values } = evaluate(run, qrels, ['RR@10', 'mrr@10'], options);
  expect(values).toEqual({ 'RR@10': [1, 0, 1 / 2], 'mrr@10': [1, 0, 1 / 2] });
  expect(summarise(evaluate(run, qrels, ['NumRelRet'], options))).toEqual({ NumRelRet: 2 });
});

test('budgets need the tokens of every document that a ranking has', () => {
  const countTokens = (id: string) => ({ a: 5, b: 3, x: 1 })[id] ?? Number.NaN;
  const known: Run = new Map([['q1', run.get('q1') ?? []]]);
  expect(evaluate(known, qrels, ['recall@7t'], { ...options, countTokens })).toMatchObject({
    values: { 'recall@7t': [1, 0, 0] },
    coverage: { 'recall@7t': [{ retrieved: 1, judged: 1 }, { retrieved: 0 }, { retrieved: 0 }] },
  });
  expect(() => evaluate(run, qrels, ['recall@7t'], options)).toThrow('metric needs the tokens of each document');
  expect(() => evaluate(run, qrels, ['recall@7t'], { ...options, countTokens })).toThrow(
    'tokens of document c, query q2, are not a number from 0: NaN; count the tokens of every document',
  );
});

test('the scale ends at the highest grade of all judgements, or where the caller says', () => {
  expect(evaluate(run, qrels, ['err@1'], options).values).toEqual({ 'err@1': [3 / 4, 0, 0] });
  expect(evaluate(run, qrels, ['err@1'], { ...options, highestGrade: 3 }).values).toEqual({ 'err@1': [3 / 8, 0, 0] });
});

const OPTIONS = { relevantGrade: 1, unanswerable: 'apart', holeDepth: 10 } as const;

test('an evaluation shows the mean of each metric, and how many queries it is of', async () => {
  const run = createRun({ soup: { a: 2, b: 1 }, bread: { a: 2, b: 1 }, extra: { a: 1 } });
  const grades = (id: string) => new Map([[id, 1]]);
  const qrels = new Map([
    ['soup', grades('a')],
    ['bread', grades('b')],
    ['tea', grades('c')],
  ]);
  const evaluation = evaluate(run, qrels, ['mrr', 'recall@1'], OPTIONS);
  expect((await readDisplay(evaluation))['text/plain'].split('\n')).toEqual([
    'means of 3 queries, 1 without a ranking, 1 unjudged',
    'metric     mean',
    'mrr       .5000',
    'recall@1  .3333',
  ]);
  const none = evaluate(run, new Map(), ['mrr'], OPTIONS);
  expect((await readDisplay(none))['text/plain'].split('\n').at(-1)).toBe('mrr');
});

test('superseded documents are looked up by query; a query without any has none', () => {
  const run = new Map([
    ['q1', [{ id: 'old', score: 2 }]],
    ['q2', [{ id: 'old', score: 2 }]],
  ]);
  const qrels = new Map(['q1', 'q2'].map((id) => [id, new Map([['new', 1]])]));
  const options = { relevantGrade: 1, unanswerable: 'count', holeDepth: 10 } as const;
  const metrics = ['stale@5', 'missing-replacement@5', 'correct-first'];
  const superseded = new Map([['q1', new Map([['old', 'new']])]]);
  expect(evaluate(run, qrels, metrics, { ...options, superseded }).values).toEqual({
    'stale@5': [1, 0],
    'missing-replacement@5': [1, 0],
    'correct-first': [0, 0],
  });
  expect(() => evaluate(run, qrels, metrics, options)).toThrow('metric needs the superseded documents of each query');
});
