import { expect, test } from 'vitest';
import { evaluate } from '../../evaluation/evaluate.ts';
import type { Qrels, Run } from '../../model/run.ts';
import { type PassportFacts, passportOf } from './passport.ts';

const facts: PassportFacts = {
  granularity: 'turn',
  relevantGrade: 2,
  judgedOnly: false,
  dataHash: 'abc',
  unanswerableAre: 'apart',
};
const qrels: Qrels = new Map([
  [
    'q1',
    new Map([
      ['a', 2],
      ['b', 0],
    ]),
  ],
  ['q2', new Map([['c', 3]])],
  ['none', new Map([['a', 1]])],
]);
const rankingOf = (ids: string) => [...ids].map((id, place) => ({ id, score: 1 / (1 + place) }));
const runs: Run[] = [
  new Map([
    ['q1', rankingOf('xab')],
    ['q2', rankingOf('c')],
  ]),
  new Map([
    ['q1', rankingOf('ab')],
    ['q2', rankingOf('yzxwc')],
  ]),
];
const evaluations = (metric: string) =>
  runs.map((run) => evaluate(run, qrels, [metric], { relevantGrade: 2, unanswerable: 'apart', holeDepth: 10 }));

test('a passport says what the figure is, on what, and how much of what it looked at was judged', () => {
  expect(passportOf('mrr@2', evaluations('mrr@2'), facts)).toEqual({
    metric: 'mrr@2',
    definition: expect.stringContaining('among the first 2'),
    ties: 'score descending, then document id descending by bytes, as trec_eval orders them',
    granularity: 'turn',
    cutoff: 2,
    relevantGrade: 2,
    judgedOnly: false,
    dataHash: 'abc',
    judgedAt: (1 + 1 + 2 + 0) / (2 + 1 + 2 + 2),
    queries: 2,
    unanswerable: 1,
    unanswerableAre: 'apart',
  });
});

test('without a cut-off the first ten count', () => {
  const { cutoff, judgedAt } = passportOf('map', evaluations('map'), facts);
  expect(cutoff).toBeNull();
  expect(judgedAt).toBe((2 + 1 + 2 + 1) / (3 + 1 + 2 + 5));
});
