import { describe, expect, test } from 'vitest';
import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { buildForestTurn, drawSampleForest, FOREST_DIMENSION, FOREST_SIZE } from './forest.fixture.ts';
import { buildFrameTables, computeDepths } from './frame-tables.ts';

const { corpus, vectors, components } = drawSampleForest(createRandom(3, 'frame-tables.test'));
const positions = [...corpus.turns.keys()];

/** Every turn hangs from the oldest of its conversation. */
const oldest = corpus.parent.map((_, i) => {
  const first = positions.findIndex((position) => corpus.conversationOf[position] === corpus.conversationOf[i]);
  return first === i ? -1 : first;
});

/** The turns of a conversation up to a position. */
const listTurnsUpTo = (i: number) =>
  positions.filter((j) => j <= i && corpus.conversationOf[j] === corpus.conversationOf[i]);
const findMostOrZero = (values: readonly number[]) => Math.max(0, ...values);

describe.each([
  ['its own', corpus.parent],
  ['other', oldest],
])('by %s parents', (_, parent) => {
  const tables = buildFrameTables(corpus, vectors, components, parent);
  const countForestDepth = (i: number): number => (parent[i]! < 0 ? 0 : 1 + countForestDepth(parent[i]!));
  const listSiblingsUpTo = (i: number) => listTurnsUpTo(i).filter((j) => parent[j] === parent[i]);

  test('a turn has its depth, and its place among the siblings before it', () => {
    for (const i of positions) {
      expect([tables.depth[i], tables.siblingIndex[i]]).toEqual([countForestDepth(i), listSiblingsUpTo(i).length - 1]);
      expect(tables.members[tables.group[i]!]!.filter((j) => j <= i)).toEqual(listSiblingsUpTo(i));
    }
  });

  test('a conversation has the greatest figures of the turns up to the newest', () => {
    for (const i of positions) {
      const seen = listTurnsUpTo(i);
      const children = seen.map((j) => (parent[j]! < 0 ? 0 : seen.filter((k) => parent[k] === parent[j]).length));
      const groups = seen.map((j) => seen.filter((k) => parent[k] === parent[j]).length);
      const found = [tables.deepest[i], tables.mostComponents[i], tables.largestGroup[i], tables.mostChildren[i]];
      const expected = [seen.map(countForestDepth), seen.map((j) => components[j]!), groups, children].map(
        findMostOrZero,
      );
      expect(found).toEqual(expected);
    }
  });

  test('homogeneity is the clipped cosine to the parent', () => {
    const listForestRow = (i: number) => [...vectors.subarray(i * FOREST_DIMENSION, (i + 1) * FOREST_DIMENSION)];
    for (const i of positions) {
      const [own, above] = [listForestRow(i), listForestRow(Math.max(parent[i]!, 0))];
      const product = own.reduce((sum, value, d) => sum + value * above[d]!, 0);
      const cosine = product === 0 ? 0 : product / Math.hypot(...own) / Math.hypot(...above);
      expect(tables.homogeneity[i]).toBeCloseTo(parent[i]! < 0 ? 1 : Math.max(0, cosine), 12);
    }
  });
});

test('depths of a chain in any order', () => {
  expect([...computeDepths(Int32Array.of(3, 0, -1, 4, 2, -1, 1))]).toEqual([3, 4, 0, 2, 1, 0, 5]);
});

test('a child listed before its parent of the same time is still its child', () => {
  const pair = new Corpus([buildForestTurn('a', 'c', 'b', 1000), buildForestTurn('b', 'c', null, 1000)]);
  const { parent, depth, mostChildren } = buildFrameTables(pair, Float32Array.of(1, 1), Int32Array.of(1, 1));
  expect([...parent, ...depth, ...mostChildren]).toEqual([1, -1, 1, 0, 1, 1]);
});

test('an empty corpus has no figures', () => {
  const { members, depth, dimension } = buildFrameTables(new Corpus([]), new Float32Array(0), new Int32Array(0));
  expect([members, depth.length, dimension]).toEqual([[], 0, 0]);
});

test.each([
  ['components of the corpus: expected 89, got 88', vectors, components.subarray(1), corpus.parent],
  ['parents of the corpus: expected 89, got 88', vectors, components, corpus.parent.subarray(1)],
  ['vectors of the corpus: expected 89 rows of one width, got 1156 numbers', vectors.subarray(1), components, oldest],
])('refuses %s', (message, rows, counts, parent) => {
  const build = () => buildFrameTables(corpus, rows, counts, parent);
  expect(build).toThrow(DimensionMismatchError);
  expect(build).toThrow(message);
});

test('refuses a turn without a component', () => {
  const id = corpus.turns[41]?.id;
  expect(() => buildFrameTables(corpus, vectors, components.with(41, 0))).toThrow(
    `turn ${id} has 0 semantic components`,
  );
  expect(corpus.size).toBe(FOREST_SIZE);
});
