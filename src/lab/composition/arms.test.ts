import { expect, test } from 'vitest';
import { expandArms, formatFileName, listCombinations } from './arms.ts';

const expandArmOptions = (...given: Parameters<typeof expandArms>) =>
  expandArms(...given).arms.map(({ options }) => options);

test('an arm takes over what it extends, through several steps, but not what is its own', () => {
  const raw = [
    { name: 'a', description: 'A', decay: { halfLifeHours: 24 }, candidates: [1, 2], tune: { x: [1] } },
    { name: 'b', extends: 'a', trajectory: { weight: 0.3 } },
    { name: 'c', extends: 'b', decay: null, candidates: [3] },
  ];
  expect(expandArms(raw, {}).faults).toEqual([]);
  const arms = expandArmOptions(raw, {});
  expect(arms[1]).toEqual({
    name: 'b',
    extends: 'a',
    decay: { halfLifeHours: 24 },
    candidates: [1, 2],
    trajectory: { weight: 0.3 },
    differences: ['trajectory.weight'],
  });
  expect(arms[2]).toEqual({
    name: 'c',
    extends: 'b',
    decay: null,
    candidates: [3],
    trajectory: { weight: 0.3 },
    differences: ['decay', 'candidates'],
  });
});

test('an arm that extends no other starts from the base, and the base has no name', () => {
  const base = { candidates: [1], decay: { halfLifeHours: 24 } };
  const arms = expandArmOptions(
    [{ name: 'a', decay: { halfLifeHours: 5 } }, { name: 'b', extends: 'a' }, { name: 'c' }],
    base,
  );
  expect(arms).toEqual([
    { name: 'a', candidates: [1], decay: { halfLifeHours: 5 }, differences: ['decay.halfLifeHours'] },
    { name: 'b', extends: 'a', candidates: [1], decay: { halfLifeHours: 5 }, differences: [] },
    { name: 'c', candidates: [1], decay: { halfLifeHours: 24 }, differences: [] },
  ]);
});

test('what was written out before keeps its differences', () => {
  const [arm] = expandArmOptions([{ name: 'a', decay: null, candidates: [1], differences: ['decay'] }], {});
  expect(arm).toMatchObject({ differences: ['decay'] });
});

test('the layers of an arm tell where each was written, from the first to the last word', () => {
  const { arms } = expandArms([{ name: 'a' }, { name: 'b', extends: 'a' }, { name: 'c', extends: 'b' }], {
    decay: null,
  });
  expect(arms[2]?.layers.map(({ keyPath: place }) => place.join('.'))).toEqual([
    '',
    'base',
    'arms.0',
    'arms.1',
    'arms.2',
  ]);
});

test('every arm that extends one that is not before it is named, with the nearest', () => {
  const { arms, faults } = expandArms(
    [
      { name: 'hybrid', extends: 'hybrid' },
      { name: 'x', extends: 'hybird' },
    ],
    {},
  );
  expect(faults).toEqual([
    { path: 'arms[0].extends', expected: 'an arm before it (there is none)', got: '"hybrid"' },
    { path: 'arms[1].extends', expected: 'an arm before it (hybrid)', got: '"hybird"', nearest: 'hybrid' },
  ]);
  expect(arms).toHaveLength(2);
});

test('a grid is all combinations, the last path changing fastest', () => {
  expect(listCombinations({ a: [1, 2], 'b.c': ['x', 'y'] })).toEqual([
    { a: 1, 'b.c': 'x' },
    { a: 1, 'b.c': 'y' },
    { a: 2, 'b.c': 'x' },
    { a: 2, 'b.c': 'y' },
  ]);
  expect(listCombinations({})).toEqual([{}]);
});

test('a file name keeps letters and digits, and the sign of a level', () => {
  expect(
    ['+ IRCP, directed', 'bm25 × 24 h', 'Zeit-Verfall', 'a | x=-1, y=2', 'a | x=1, y=2'].map(formatFileName),
  ).toEqual(['ircp-directed', 'bm25-24-h', 'zeit-verfall', 'a-x-minus-1-y-2', 'a-x-1-y-2']);
});

test('a name too long for a file is cut, and still differs from others that begin like it', () => {
  const long = `hybrid | ${Array.from({ length: 17 }, (_, i) => `relevance.fusion.alpha${i}=0.3`).join(', ')}`;
  const names = [`${long}, x=1`, `${long}, x=2`].map(formatFileName);
  expect(names.map((name) => name.length)).toEqual([120, 120]);
  expect(new Set(names).size).toBe(2);
  expect(names[0]).toMatch(/^hybrid-relevance-fusion-alpha0-0-3-.*-[0-9a-f]{8}$/);
});

test('the length of a name is that of its bytes, and no character is cut in two', () => {
  expect(formatFileName('減'.repeat(40))).toBe('減'.repeat(40));
  for (const [letters, kept] of [
    ['減衰なし'.repeat(31), `${'減衰なし'.repeat(9)}減`],
    ['𐐨'.repeat(31), '𐐨'.repeat(27)],
  ] as const) {
    const name = formatFileName(letters);
    expect(name).toMatch(new RegExp(`^${kept}-[0-9a-f]{8}$`));
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(120);
  }
});
