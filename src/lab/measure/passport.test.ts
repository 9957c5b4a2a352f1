import { expect, test } from 'vitest';
import { evaluate } from '../../eval/metrics/evaluate.ts';
import type { Qrels, Run } from '../../model/run.ts';
import { buildPassport, countTokens, type PassportFacts } from './passport.ts';

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
const rankLetters = (ids: string) => [...ids].map((id, place) => ({ id, score: 1 / (1 + place) }));
const runs: Run[] = [
  new Map([
    ['q1', rankLetters('xab')],
    ['q2', rankLetters('c')],
  ]),
  new Map([
    ['q1', rankLetters('ab')],
    ['q2', rankLetters('yzxwc')],
  ]),
];
const evaluateRuns = (metric: string) =>
  runs.map((run) => evaluate(run, qrels, [metric], { relevantGrade: 2, unanswerable: 'apart', holeDepth: 10 }));

test('a passport says what the figure is, on what, and how much of what it looked at was judged', () => {
  expect(buildPassport('mrr@2', evaluateRuns('mrr@2'), facts)).toEqual({
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
  const { cutoff, judgedAt } = buildPassport('map', evaluateRuns('map'), facts);
  expect(cutoff).toBeNull();
  expect(judgedAt).toBe((2 + 1 + 2 + 1) / (3 + 1 + 2 + 5));
});

test('tokens are words, with digits and in any script, not punctuation', () => {
  expect(countTokens("Don't re-send: v3.5, Grüße — 会議!")).toBe(7);
  expect(countTokens(' …\n')).toBe(0);
});
