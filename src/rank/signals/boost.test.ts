import { expect, test } from 'vitest';
import { type BoostOptions, boostSignal, readAttributes } from './boost.ts';
import type { World } from './signal.ts';

const TURNS = [
  { id: 'a', attributes: { outcome: 0.5, memoryType: 'summary', entities: ['Ann', 'Bo'], done: true } },
  { id: 'b' },
  { id: 'c', attributes: { outcome: -3, memoryType: 'episodic', entities: [], done: false } },
];
const world = { corpus: { turns: TURNS } } as unknown as World;
/** One query with the turns c, a and b, and a padded place. */
const pool = { queryCount: 1, width: 4, positions: Int32Array.of(2, 0, 1, -1) };

const computeBoosts = (boosts: BoostOptions) => boostSignal(boosts).compute(world, pool as never, {});

test.each<[BoostOptions, number[]]>([
  [[{ attribute: 'outcome', factor: 0.5 }], [0, 1.25, 1]],
  [[{ attribute: 'outcome', factor: -0.25 }], [1.75, 0.875, 1]],
  [[{ attribute: 'done', factor: 2 }], [1, 3, 1]],
  [[{ attribute: 'memoryType', factors: { summary: 0.125, procedural: 9 } }], [1, 1.125, 1]],
  [[{ attribute: 'entities', factors: { Ann: 0.5, Bo: 0.25 } }], [1, 1.75, 1]],
  [
    [
      { attribute: 'outcome', factor: 0.5 },
      { attribute: 'done', factor: 1 },
    ],
    [0, 2.5, 1],
  ],
  [[{ attribute: 'toString', factor: 1 }], [1, 1, 1]],
])('%j', async (boosts, expected) => {
  expect([...((await computeBoosts(boosts)) as Float32Array)].slice(0, 3)).toEqual(expected);
});

test.each<[BoostOptions, string]>([
  [
    [{ attribute: 'memoryType', factor: 1 }],
    'boost of attribute memoryType has one factor, and turn c has a text there; set factors: { value: factor }',
  ],
  [
    [{ attribute: 'outcome', factors: { a: 1 } }],
    'boost of attribute outcome has a factor for each text, and turn c has a number there; set factor: a number',
  ],
])('%j does not fit the data', async (boosts, message) => {
  await expect(async () => computeBoosts(boosts)).rejects.toThrow(message);
});

test('a column of attributes is 0 where the pool is padded', () => {
  expect([...readAttributes(world, pool, 'outcome', Number, 7)]).toEqual([-3, 0.5, 7, 0]);
});
