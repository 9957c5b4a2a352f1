import { expect, test } from 'vitest';
import type { Run } from '../../model/run.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { type ArmOptions, armOptions } from '../config/arm-options.ts';
import { findFilterWarnings, findTiedEndWarnings } from './run-warnings.ts';

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
