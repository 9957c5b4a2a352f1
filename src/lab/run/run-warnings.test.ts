import { describe, expect, test } from 'vitest';
import type { Run } from '../../model/run.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { resolveConfig } from '../config/config.ts';
import { type ArmOptions, armOptions } from '../config/config-schema.ts';
import { findFilterWarnings, findReachWarnings, findTiedEndWarnings } from './run-warnings.ts';

const corpus = {
  turns: [{ id: 'a' }, { id: 'b', attributes: { memoryType: 'fact', phase: 'late' } }],
} as unknown as Corpus;
const describeArm = (name: string, where: string | null, more: Partial<ArmOptions> = {}): ArmOptions => ({
  ...armOptions.parse({
    name,
    steps: ['filter', 'search'],
    filter: where,
    search: { newest: {} },
  }),
  ...more,
});

test('an arm whose filter reads an attribute that no turn has gets one warning, its control none', () => {
  const wrong = "(memorytype = 'fact' or not exists weather) and phase = $query.other and channel = 'a'";
  const arms = [
    describeArm('plain', null),
    describeArm('right', "memoryType = 'fact' and timestamp > 7"),
    describeArm('wrong', wrong),
    describeArm('wrong | control: random-parents', wrong, { control: { kind: 'random-parents', seed: 1 } }),
    describeArm('wrong, seed 2', wrong, { repeats: 'wrong' }),
  ];
  expect(findFilterWarnings(arms, { corpus })).toEqual([
    {
      code: 'unknown-attribute',
      system: 'wrong',
      message:
        'wrong: the filter reads attributes that no turn has and that are null: memorytype (did you mean memoryType?), weather; correct the filter, or add them to the turns',
    },
  ]);
});

/** A query for each list of scores. */
function rankByScores(lists: readonly (readonly number[])[]): { run: Run; queries: { id: string }[] } {
  const queries = lists.map((_, q) => ({ id: `q${q}` }));
  const run = new Map(lists.map((scores, q) => [`q${q}`, scores.map((score, i) => ({ id: `t${9 - i}`, score }))]));
  return { run, queries };
}
function findMessages(...lists: readonly (readonly number[])[]): string[] {
  const { run, queries } = rankByScores(lists);
  return findTiedEndWarnings(new Map([['names alone', run]]), queries).map(({ message }) => message);
}

test('an arm whose rankings end in one score is named, with the queries, the turns and the rank', () => {
  const { run, queries } = rankByScores([
    [3, 2, 0, 0, 0],
    [3, 2, 1, 0, 0],
    [5, 4, 3, 2, 1],
    [7, 7, 7],
  ]);
  expect(findTiedEndWarnings(new Map([['names alone', run]]), queries)).toEqual([
    {
      code: 'tied-end',
      system: 'names alone',
      message:
        'names alone: the last turns of a ranking have one score and are in the order of their ids, in 3 of 4 (75.0 %) queries, ' +
        '8 of 18 (44.4 %) ranked turns, in half of these queries from rank 3 or earlier; add a signal that scores them, or lower evaluation.depth',
    },
  ]);
});

test('only equal scores at the end count, and only of measured queries', () => {
  expect(findMessages([3, 3, 3, 1], [2, 1], [])).toEqual([]);
  const { run } = rankByScores([[1], [0, 0]]);
  expect(findTiedEndWarnings(new Map([['a', run]]), [{ id: 'q0' }])).toEqual([]);
});

test('ties of less than 5 % of the ranked turns are not reported', () => {
  const descend = (length: number) => Array.from({ length }, (_, i) => length - i);
  expect(findMessages([...descend(38), 0, 0])).toHaveLength(1);
  expect(findMessages([...descend(39), 0, 0])).toEqual([]);
});

const fuse = (fusion: object | string) => [
  { search: { bm25: { k: 50 }, flat: { k: 50 }, graph: { k: 50 } } },
  { fuse: fusion },
];
/**
 * Lexical, dense and graph lists in weighted reciprocal ranks with k = 60 and equal weights, as a published prototype
 * fused them.
 */
const prototype = fuse({ rrf: { k: 60 } });

function findWarnings(arms: object, evaluation: object = { metrics: ['recall@10', 'mrr@10'] }) {
  const [baseline] = Object.keys(arms);
  const config = resolveConfig(
    {
      name: 'reach',
      dataset: { name: 'jsonl', path: '/nowhere' },
      embedding: { encoder: 'lsa', dimension: 13 },
      evaluation: { baseline, ...evaluation },
      arms,
    },
    'test',
  );
  return findReachWarnings(config.arms as readonly ArmOptions[], config.evaluation).map(({ code, system, message }) => [
    code,
    system,
    message,
  ]);
}

describe('an arm is reported', () => {
  test('where lists that agree fill the measured ranks: three lists of equal weight, k = 60', () => {
    expect(findWarnings({ prototype })).toEqual([
      [
        'unreachable-list',
        'prototype',
        'prototype: best rank of a turn that one list alone finds, if the other lists agree and if they share no turn: bm25 51 and 1, flat 51 and 1, graph 51 and 1; the metrics read the top 10, so raise the weights of these lists or lower k of rrf, now 60',
      ],
    ]);
  });

  test('with each list that is barred, and whether the others have to agree', () => {
    const [[, , message] = []] = findWarnings({ weak: fuse({ rrf: { bm25: 2, flat: 2, graph: 0.5 } }) });
    expect(message).toContain('if they share no turn: bm25 17 and 1, flat 17 and 1, graph 51 and 101; the metrics');
    const [[, , convex] = []] = findWarnings({ convex: fuse({ convex: { flat: 0.5, bm25: 0.3, graph: 0.2 } }) });
    expect(convex).toBe(
      'convex: best rank of a turn that one list alone finds, if the other lists agree and if they share no turn: graph 51 and 101; the metrics read the top 10, so raise the weights of these lists',
    );
  });

  test('once: not again for its null controls and repetitions', () => {
    const arms = { prototype, control: { from: 'prototype', control: { kind: 'random-parents' } } };
    expect(findWarnings(arms)).toHaveLength(1);
  });
});

describe('an arm is not reported', () => {
  test.each([
    ['a smaller k', { rrf: { k: 8 } }],
    ['a heavier graph, as the others reach by agreeing with it', { convex: { flat: 0.3, bm25: 0.2, graph: 0.5 } }],
  ])('where every list reaches the measured ranks: %s', (_, fusion) => {
    expect(findWarnings({ reachable: fuse(fusion) })).toEqual([]);
  });

  test('where the metrics, or without cutoffs the rankings, read deeper', () => {
    expect(findWarnings({ prototype }, { metrics: ['recall@10', 'recall@60'] })).toEqual([]);
    expect(findWarnings({ prototype }, { metrics: ['map'], depth: 100 })).toEqual([]);
    expect(findWarnings({ prototype }, { metrics: ['map'], depth: 40 })).toHaveLength(1);
  });

  test('with two lists of equal weight', () => {
    expect(findWarnings({ hybrid: fuse({ rrf: { bm25: 1, flat: 1 } }) })).toEqual([]);
  });
});
