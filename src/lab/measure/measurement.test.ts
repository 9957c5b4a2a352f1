import { describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { noteProgress } from '../../core/terminal/progress.harness.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Run } from '../../model/run.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { computeByFamily, computeMetricMean, measureArms, selectJudgements } from './measurement.ts';

const TURNS = 11;
const buildNumberedTurn = (i: number) => ({
  id: `t${i}`,
  conversationId: `c${i}`,
  parentId: null,
  timestamp: i,
  author: null,
  channel: null,
  text: 'x',
});
const buildMeasuredQuery = (i: number): Query => ({
  id: `q${i}`,
  text: 'x',
  timestamp: 99,
  anchorTurnId: null,
  author: null,
  channel: null,
  split: 'test',
  cluster: `c${i % 5}`,
});
const queries = Array.from({ length: 7 }, (_, i) => buildMeasuredQuery(i));
/** Query i is answered by turn i in full and by turn i + 1 a little; the last one by nothing. */
const dataset: Dataset = {
  name: 'seven',
  declaration: { task: '', features: [], licence: '' },
  corpus: new Corpus(Array.from({ length: TURNS }, (_, i) => buildNumberedTurn(i))),
  queries,
  qrels: new Map(
    queries.map(({ id }, i) => [id, new Map(i === 6 ? [['t0', 1]] : [[`t${i}`, 3] as const, [`t${i + 1}`, 1]])]),
  ),
  relevantGrade: 3,
  gradeNames: {},
  devConversations: new Set(),
  facts: {},
  hash: '',
};

/** The relevant turn of query i is at rank `places[i]`, counted from 1, among unjudged ones; 0 for nowhere. */
function runWith(places: readonly number[]): Run {
  return new Map(
    places.map((place, i) => {
      const others = Array.from({ length: 4 }, (_, k) => `u${k}`);
      const ids = place === 0 ? others : [...others.slice(0, place - 1), `t${i}`, ...others.slice(place - 1)];
      return [`q${i}`, ids.map((id, k) => ({ id, score: 1 / (1 + k) }))];
    }),
  );
}

const base = runWith([2, 2, 4, 0, 3, 2, 0]);
const good = runWith([1, 1, 1, 2, 1, 1, 0]);
const options = { metrics: ['mrr@10', 'recall@1'], baseline: 'base', samples: 997, level: 0.95, seed: 5 };

test('the judgements of some queries come in their order', () => {
  expect([...selectJudgements(dataset, [queries[3]!, queries[1]!]).qrels]).toEqual([
    [
      'q3',
      new Map([
        ['t3', 3],
        ['t4', 1],
      ]),
    ],
    [
      'q1',
      new Map([
        ['t1', 3],
        ['t2', 1],
      ]),
    ],
  ]);
  expect(selectJudgements({ ...dataset, qrels: new Map() }, queries).qrels.get('q0')).toEqual(new Map());
});

test('a mean is over the queries that have an answer', () => {
  expect(computeMetricMean('mrr@10', base, dataset, queries)).toBeCloseTo(
    (1 / 2 + 1 / 2 + 1 / 4 + 0 + 1 / 3 + 1 / 2) / 6,
    12,
  );
  expect(computeMetricMean('mrr@10', good, dataset, queries.slice(0, 4))).toBeCloseTo((1 + 1 + 1 + 1 / 2) / 4, 12);
});

describe('measured arms', () => {
  const {
    arms,
    queries: kept,
    unanswerable,
  } = measureArms(
    new Map([
      ['good', good],
      ['base', base],
    ]),
    dataset,
    queries,
    options,
  );
  const [first, second] = arms as [(typeof arms)[number], (typeof arms)[number]];

  test('say which queries count', () => {
    expect(kept.map(({ id }) => id)).toEqual(['q0', 'q1', 'q2', 'q3', 'q4', 'q5']);
    expect(unanswerable.map(({ id }) => id)).toEqual(['q6']);
  });

  test('have a value for each of them, and their mean in an interval', () => {
    expect(first.perQuery['mrr@10']).toEqual([1, 1, 1, 1 / 2, 1, 1]);
    expect(second.perQuery['recall@1']).toEqual([0, 0, 0, 0, 0, 0]);
    const { mean, low, high } = first.metrics['mrr@10'] as { mean: number; low: number; high: number };
    expect(mean).toBeCloseTo(5.5 / 6, 12);
    expect(low).toBeLessThanOrEqual(mean);
    expect(high).toBeGreaterThanOrEqual(mean);
  });

  test('are compared with the baseline, whatever its place, and it with nothing', () => {
    expect(second.comparisons).toBeNull();
    const expected = (1 / 2 + 1 / 2 + 3 / 4 + 1 / 2 + 2 / 3 + 1 / 2) / 6;
    expect(first.comparisons?.['mrr@10']?.difference.mean).toBeCloseTo(expected, 12);
    expect(first.comparisons?.['recall@1']?.difference.mean).toBeCloseTo(5 / 6, 12);
    // Five clusters, all one way: of 2^5 flips two are as extreme.
    expect(first.comparisons?.['mrr@10']?.p).toBeCloseTo(2 / 32, 12);
    expect(first.comparisons?.['mrr@10']?.verdict).toBe('undecided');
  });

  test('count what was never judged among the first ten', () => {
    expect(first.holes).toBe(6 * 4);
    expect(second.holes).toBe(6 * 4);
  });

  test('are the same again', () => {
    expect(
      measureArms(
        new Map([
          ['good', good],
          ['base', base],
        ]),
        dataset,
        queries,
        options,
      ).arms,
    ).toEqual(arms);
  });
});

test.each([1, 2])('%i conversations have no interval, and decide nothing', (conversations) => {
  const few = queries.map((query, q) => ({ ...query, cluster: `c${q % conversations}` }));
  const runs = new Map([
    ['good', good],
    ['base', base],
  ]);
  const [first] = measureArms(runs, { ...dataset, queries: few }, few, options).arms;
  expect(first?.metrics['mrr@10']).toEqual({ mean: expect.closeTo(5.5 / 6, 12), low: null, high: null });
  const comparison = first?.comparisons?.['mrr@10'];
  // Six queries, all one way: so are the conversations.
  expect(comparison).toMatchObject({ p: 2 / 2 ** conversations, verdict: 'undecided', minimumDetectable: null });
  expect(comparison?.difference).toMatchObject({ low: null, high: null });
});

test('below 20 conversations the interval is that of the cluster-robust t test', () => {
  const [first] = measureArms(new Map([['good', good]]), dataset, queries, options).arms;
  // Conversations of 2, 1, 1, 1 and 1 query; residual sums of 1, 1, 1, 1 / 2, 1, 1. scipy 1.17.1: stats.t.ppf(0.975, 4) = 2.7764451051977987
  const mean = 5.5 / 6;
  const residuals = [2 - 2 * mean, 1 - mean, 1 - mean, 0.5 - mean, 1 - mean];
  const error = Math.sqrt((residuals.reduce((sum, u) => sum + u * u, 0) * 5) / 4) / 6;
  expect(first?.metrics['mrr@10']?.low).toBeCloseTo(mean - 2.7764451051977987 * error, 9);
  expect(first?.metrics['mrr@10']?.high).toBeCloseTo(mean + 2.7764451051977987 * error, 9);
});

test('a baseline alone is compared with nothing', () => {
  const { stages, progress } = noteProgress();
  const { arms } = measureArms(new Map([['base', base]]), dataset, queries, options, progress);
  const total = 2 * (1 + options.metrics.length);
  expect(stages).toEqual([['statistics', total, total]]);
  expect(arms).toHaveLength(1);
  expect(arms[0]?.comparisons).toBeNull();
});

describe('refused are', () => {
  test.each([
    ['measureArms', () => measureArms(new Map([['base', base]]), dataset, [queries[6]!], options)],
    ['meanOf', () => computeMetricMean('mrr@10', base, dataset, [queries[6]!])],
  ])('queries of which none has an answer, by %s', (_, measure) => {
    expect(measure).toThrow(ValidationError);
    expect(measure).toThrow(/^none of \d+ queries has a relevant turn.*; add judgements or queries$/);
  });

  test('a single query with an answer, by which nothing can be resampled', () => {
    const one = [queries[0]!, queries[6]!];
    expect(() => measureArms(new Map([['base', base]]), dataset, one, options)).toThrow(ValidationError);
  });
});

const seen: [string[], number][] = [];
const listLabelled = (arms: readonly string[], isControl: (place: number) => boolean, baseline: number) => {
  seen.length = 0;
  return computeByFamily(arms, isControl, baseline, (members, base) => {
    seen.push([[...members], base]);
    return members.map((member) => `${member} of ${members.length}, ${seen.length}`);
  });
};

test('controls and arms proper are computed apart, the baseline in both', () => {
  const values = listLabelled(['a', 'a*', 'base', 'b', 'b*', 'c*'], (place) => [1, 4, 5].includes(place), 2);
  expect(seen).toEqual([
    [['a', 'base', 'b'], 1],
    [['a*', 'base', 'b*', 'c*'], 1],
  ]);
  expect(values).toEqual(['a of 3, 1', 'a* of 4, 2', 'base of 3, 1', 'b of 3, 1', 'b* of 4, 2', 'c* of 4, 2']);
});

test('without a baseline among them, and without controls', () => {
  expect(listLabelled(['a', 'a*'], (place) => place === 1, -1)).toEqual(['a of 1, 1', 'a* of 1, 2']);
  expect(seen.map(([, base]) => base)).toEqual([-1, -1]);
  expect(listLabelled(['a', 'base'], () => false, 1)).toEqual(['a of 2, 1', 'base of 2, 1']);
});
