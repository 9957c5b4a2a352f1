import { describe, expect, test } from 'vitest';
import {
  areResolvedArms,
  findPartPath,
  formatFileName,
  listCombinations,
  readResolvedArms,
  withoutSharedOptions,
} from './arms.ts';

const shared = { seed: 3 };
const words = { name: 'words', steps: ['search'], search: { bm25: {} }, decay: null };

test('arms that were written out are whole by themselves, and none takes over what it extends', () => {
  const later = { name: 'later', extends: 'words', steps: ['search', 'decay'], search: { hnsw: {} }, seed: null };
  const { arms, faults } = readResolvedArms([words, later], shared);
  expect(faults).toEqual([]);
  expect(arms.map(({ options }) => options)).toEqual([words, later]);
  expect(arms[1]?.layers.map(({ keyPath }) => keyPath.join('.'))).toEqual(['', 'arms.1']);
  expect(arms.map((arm) => withoutSharedOptions(arm).options)).toEqual([words, later]);
});

test('a list is of arms that were written out only if each has the order of its steps', () => {
  expect(areResolvedArms([words, words])).toBe(true);
  expect(areResolvedArms([words, { name: 'x' }])).toBe(false);
  expect(areResolvedArms({ words: [] })).toBe(false);
});

test('every arm that extends one that is not before it is named, with the nearest', () => {
  const { arms, faults } = readResolvedArms(
    [
      { ...words, name: 'hybrid', extends: 'hybrid' },
      { ...words, extends: 'hybird' },
    ],
    shared,
  );
  expect(faults).toEqual([
    { path: 'arms[0].extends', expected: 'an arm before it (there is none)', got: '"hybrid"' },
    { path: 'arms[1].extends', expected: 'an arm before it (hybrid)', got: '"hybird"', nearest: 'hybrid' },
  ]);
  expect(arms).toHaveLength(2);
});

describe('the place of a value that is not written as a whole', () => {
  const layers = [
    { keyPath: [], at: [], content: { embedding: { encoder: 'lsa' } } },
    { keyPath: ['arms', 'a', '0', 'search'], at: ['search'], content: { bm25: { k: 3 } } },
    { keyPath: ['arms', 'a', '1', 'decay'], at: ['decay'], content: 24 },
    { keyPath: ['arms', 'a', 'set', 'bm25.b'], at: ['search', 'bm25', 'b'], content: 0.5 },
  ];
  test.each([
    ['a missing key is where its mapping is', 'search.bm25.k1', 'arms.a.0.search.bm25.k1'],
    ['a value in a short form is where the form is', 'decay.halfLifeHours', 'arms.a.1.decay'],
    ['a value at a path is there', 'search.bm25.b', 'arms.a.set.bm25.b'],
    ['what only the experiment has is nowhere', 'embedding.dimension', undefined],
    ['what is not written is nowhere', 'fuse', undefined],
  ])('%s', (_, path, place) => {
    expect(findPartPath(layers, path.split('.'))?.join('.')).toBe(place);
  });
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
  const long = `hybrid | ${Array.from({ length: 17 }, (_, i) => `fuse.convex.column${i}=0.3`).join(', ')}`;
  const names = [`${long}, x=1`, `${long}, x=2`].map(formatFileName);
  expect(names.map((name) => name.length)).toEqual([120, 120]);
  expect(new Set(names).size).toBe(2);
  expect(names[0]).toMatch(/^hybrid-fuse-convex-column0-0-3-.*-[0-9a-f]{8}$/);
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
