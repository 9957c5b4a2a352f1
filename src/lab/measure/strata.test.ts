import { describe, expect, test } from 'vitest';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { divideIntoStrata } from './strata.ts';

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
