import { describe, expect, test } from 'vitest';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Stratum, StratumValue } from './result.ts';
import { computeStratumValues, divideIntoStrata } from './strata.ts';

const HOUR_MILLISECONDS = 3_600_000;
const buildTurn = (id: string, conversationId: string, parentId: string | null, hours: number) => ({
  id,
  conversationId,
  parentId,
  timestamp: hours * HOUR_MILLISECONDS,
  author: null,
  channel: null,
  text: 'x',
});

/** A chain a0 … a6, a turn an hour; b0 alone, long before; and c0 with the answer c1, which the queries do not see. */
const corpus = new Corpus([
  ...Array.from({ length: 7 }, (_, i) => buildTurn(`a${i}`, 'a', i === 0 ? null : `a${i - 1}`, 200 + i)),
  buildTurn('b0', 'b', null, 0),
  buildTurn('c0', 'c', null, 205),
  buildTurn('c1', 'c', 'c0', 300),
]);

const buildStrataQuery = (id: string, hours: number, rest: Partial<Query>): Query => ({
  id,
  text: 'x',
  timestamp: hours * HOUR_MILLISECONDS,
  anchorTurnId: null,
  author: null,
  channel: null,
  split: 'test',
  cluster: id,
  ...rest,
});
const queries = [
  buildStrataQuery('q0', 201, { turnId: 'a1' }), // depth 1; one turn before it; a0 is an hour old
  buildStrataQuery('q1', 206, { turnId: 'a6' }), // depth 6; six turns before it; a5 is an hour old, the other relevant ones, a0 and b0, are older
  buildStrataQuery('q2', 205.5, {}), // looks for c0, a root; of its thread one turn is there; half an hour old
  buildStrataQuery('q3', 206.5, { anchorTurnId: 'a3' }), // looks for b0, 206.5 h old; stands in a, of which seven are there
];
const buildStrataDataset = (given: readonly Query[]): Dataset => ({
  name: 'test',
  declaration: { task: '', features: [], licence: '' },
  corpus,
  queries: given,
  qrels: new Map([
    ['q0', new Map([['a0', 3]])],
    [
      'q1',
      new Map([
        ['a5', 3],
        ['a0', 3],
        ['b0', 3],
        ['c0', 1],
      ]),
    ],
    ['q2', new Map([['c0', 3]])],
    ['q3', new Map([['b0', 3]])],
  ]),
  relevantGrade: 3,
  gradeNames: {},
  devConversations: new Set(),
  facts: {},
  hash: '',
});
const computeStrataLevels = (given: readonly Query[]) =>
  Object.fromEntries(
    divideIntoStrata(buildStrataDataset(given), given).map(({ name, levels }) => [
      name,
      Object.fromEntries(levels.map((level) => [level.name, [...level.queries]])),
    ]),
  );

describe('queries are grouped', () => {
  test('by depth, thread and age as of their moment, in levels that are not empty', () => {
    expect(computeStrataLevels(queries)).toEqual({
      evidence: { exact: [0, 2, 3], 'multi-hop': [1] },
      depth: { 0: [2, 3], 1: [0], '6 and deeper': [1] },
      'thread size': { 1: [0, 2], '6 to 20': [1, 3] },
      'age of the target': { 'under an hour': [2], 'under a day': [0, 1], 'a week and older': [3] },
    });
  });

  test('in the order of the levels', () => {
    const [, depth] = divideIntoStrata(buildStrataDataset(queries), [...queries].reverse());
    expect(depth?.levels.map(({ name }) => name)).toEqual(['0', '1', '6 and deeper']);
  });

  test('by the words that they share with their relevant turn, where there is one', () => {
    const texts = ['the x of it', 'about another thing', 'about another thing', "what is the x's"];
    const asked = queries.map((one, i): Query => ({ ...one, text: texts[i] as string }));
    expect(computeStrataLevels(asked).evidence).toEqual({ exact: [0, 3], paraphrase: [2], 'multi-hop': [1] });
  });

  test('by their kind, where some have one', () => {
    const kinds = ['why', 'how', 'why', undefined];
    const told = queries.map((one, i): Query => ({ ...one, ...(kinds[i] === undefined ? {} : { kind: kinds[i] }) }));
    expect(computeStrataLevels(told).kind).toEqual({ how: [1], 'not said': [3], why: [0, 2] });
  });

  test('not at all by what all have in common', () => {
    expect(divideIntoStrata(buildStrataDataset(queries), queries.slice(0, 1))).toEqual([]);
    const same = queries.map((one): Query => ({ ...one, kind: 'why' }));
    expect(Object.keys(computeStrataLevels(same))).not.toContain('kind');
  });
});

/**
 * Q = 19: six conversations of two queries in `many`, three of one or two in `few`, two of one in `pair`, one of these
 * in `alone`.
 */
const labels = [...Array.from({ length: 12 }, (_, i) => `m${i % 6}`), 'f0', 'f0', 'f1', 'f1', 'f2', 'x', 'y'];
const stratum: Stratum = {
  name: 'size',
  description: '',
  levels: [
    { name: 'many', queries: Array.from({ length: 12 }, (_, i) => i) },
    { name: 'few', queries: [12, 13, 14, 15, 16] },
    { name: 'pair', queries: [17, 18] },
    { name: 'alone', queries: [17] },
  ],
};
const base = labels.map((_, i) => (i % 3) / 3);
/** By conversation m0 … m5, the same for both of its queries. */
const gains = [0.3, 0.1, 0.2, -0.1, 0.2, 0.2];
const better = base.map((value, i) => value + (i < 12 ? (gains[i % 6] as number) : 0.25));
const equal = [...base];

const options = { metrics: ['mrr@10'], baseline: 1, level: 0.95, correction: 'holm' as const };
const arms = [better, base, equal].map((values) => ({ 'mrr@10': values }));
const [first, second, third] = computeStratumValues([stratum], arms, labels, options);
const getStratum = (values: typeof first, level: string) => values?.size?.[level]?.['mrr@10'] as StratumValue;

// The differences' means over conversations: 0.15, deviation sqrt(0.095 / 5), 6 conversations.
// scipy 1.17.1: stats.ttest_1samp([.3, .1, .2, -.1, .2, .2], 0).confidence_interval(.95); its p, .045, is below that of
// the signs
const [LOW, HIGH] = [0.005345279774927547, 0.2946547202250725];
// Of the signs of .3, .1, .2, .1, .2, .2: all alike, or one of the two .1 against the others; and the opposites of
// these.
const P = 6 / 64;

describe('a level', () => {
  test('has the mean of its queries', () => {
    const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(getStratum(first, 'many').mean).toBeCloseTo(mean(better.slice(0, 12)), 12);
    expect(getStratum(second, 'few').mean).toBeCloseTo(mean(base.slice(12, 17)), 12);
  });

  test('is tested by conversation', () => {
    const { difference, p } = getStratum(first, 'many');
    expect(difference?.mean).toBeCloseTo(0.15, 12);
    expect(difference?.low).toBeCloseTo(LOW, 12);
    expect(difference?.high).toBeCloseTo(HIGH, 12);
    expect(p).toBe(P);
  });

  test('of many conversations has the p of the t test', () => {
    // The same gains five times over, in 30 conversations: the density of t with 29 degrees of freedom by Simpson's
    // rule.
    const nothing = new Array<number>(30).fill(0.5);
    const gained = nothing.map((value, i) => value + (gains[i % 6] as number));
    const every: Stratum = { name: 'size', description: '', levels: [{ name: 'all', queries: [...nothing.keys()] }] };
    const columns = [gained, nothing].map((values) => ({ 'mrr@10': values }));
    const [found] = computeStratumValues([every], columns, [...nothing.keys()].map(String), options);
    expect(getStratum(found, 'all').p).toBeCloseTo(5.072813904932689e-7, 15);
  });

  test('of few conversations has an interval and no p, of one or two conversations neither', () => {
    expect(getStratum(first, 'few')).toMatchObject({ difference: { mean: 0.25 }, p: null, correctedP: null });
    for (const level of ['pair', 'alone'])
      expect(getStratum(first, level)).toMatchObject({ difference: null, p: null, correctedP: null });
  });

  test('has a p from five conversations on', () => {
    const buildSizeStratum = (conversations: number): Stratum => ({
      name: 'size',
      description: '',
      levels: [{ name: 'some', queries: Array.from({ length: conversations }, (_, i) => i) }],
    });
    const computeSizeP = (conversations: number) =>
      getStratum(computeStratumValues([buildSizeStratum(conversations)], arms, labels, options)[0], 'some').p;
    expect(computeSizeP(4)).toBeNull();
    // The signs of .3, .1, .2, -.1, .2: 3 of 16 are as extreme; the t test has .108.
    expect(computeSizeP(5)).toBe(3 / 16);
  });

  test('is corrected together with the other levels and arms that are tested', () => {
    // Two tests: `better` and `equal`, both in `many`.
    expect(getStratum(first, 'many').correctedP).toBeCloseTo(2 * P, 9);
    expect(getStratum(third, 'many')).toMatchObject({ p: 1, correctedP: 1 });
    const alone = computeStratumValues([stratum], arms.slice(0, 2), labels, options);
    expect(getStratum(alone[0], 'many').correctedP).toBeCloseTo(P, 9);
    const none = computeStratumValues([stratum], arms, labels, { ...options, correction: 'none' });
    expect(getStratum(none[0], 'many').correctedP).toBeCloseTo(P, 9);
  });

  test('of the baseline is compared with nothing', () => {
    expect(getStratum(second, 'many')).toMatchObject({ difference: null, p: null, correctedP: null });
  });
});
