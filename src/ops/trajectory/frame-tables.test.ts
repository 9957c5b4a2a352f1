import { describe, expect, test } from 'vitest';
import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { gatherRows } from '../../core/tensors/rows.ts';
import { Corpus, listPositions } from '../../model/turns/corpus.ts';
import { buildForestTurn, drawSampleForest, FOREST_DIMENSION, FOREST_SIZE } from './forest.fixture.ts';
import {
  buildFrameTables,
  computeDepths,
  countTurnsBefore,
  type FrameTables,
  openFrames,
  type ROW,
  readField,
} from './frame-tables.ts';

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
const readFields = (tables: FrameTables, turn: number, ...fields: (keyof typeof ROW)[]) =>
  fields.map((field) => readField(tables, field, turn));
const findMostOrZero = (values: readonly number[]) => Math.max(0, ...values);

describe.each([
  ['its own', corpus.parent],
  ['other', oldest],
])('by %s parents', (_, parent) => {
  const findParents = (conversation: number) =>
    listPositions(corpus, conversation).map((i) => (parent[i]! < 0 ? -1 : corpus.ringPosition[parent[i]!]!));
  const frames = openFrames(corpus, vectors, components, parent === corpus.parent ? {} : { findParents });
  /** The tables of the conversation of a turn, its ring position, and its siblings by their corpus positions. */
  const find = (i: number) => {
    const conversation = corpus.conversationOf[i]!;
    return { tables: frames.tables(conversation), at: corpus.ringPosition[i]!, all: frames.positions(conversation) };
  };
  const countForestDepth = (i: number): number => (parent[i]! < 0 ? 0 : 1 + countForestDepth(parent[i]!));
  const listSiblingsUpTo = (i: number) => listTurnsUpTo(i).filter((j) => parent[j] === parent[i]);

  test('a turn has its depth, and its place among the siblings before it', () => {
    for (const i of positions) {
      const { tables, at, all } = find(i);
      expect(readFields(tables, at, 'depth', 'siblingIndex')).toEqual([
        countForestDepth(i),
        listSiblingsUpTo(i).length - 1,
      ]);
      const above = readField(tables, 'parent', at);
      expect(above).toBe(parent[i]! < 0 ? -1 : corpus.ringPosition[parent[i]!]);
      const group = above < 0 ? all.length : above;
      const members = tables.members.subarray(tables.starts[group], tables.starts[group + 1]).filter((j) => j <= at);
      expect(Array.from(members, (j) => all[j])).toEqual(listSiblingsUpTo(i));
    }
  });

  test('a conversation has the greatest figures of the turns up to the newest', () => {
    for (const i of positions) {
      const seen = listTurnsUpTo(i);
      const children = seen.map((j) => (parent[j]! < 0 ? 0 : seen.filter((k) => parent[k] === parent[j]).length));
      const groups = seen.map((j) => seen.filter((k) => parent[k] === parent[j]).length);
      const { tables, at } = find(i);
      const found = readFields(tables, at, 'deepest', 'mostComponents', 'largestGroup', 'mostChildren');
      const expected = [seen.map(countForestDepth), seen.map((j) => components[j]!), groups, children].map(
        findMostOrZero,
      );
      expect(found).toEqual(expected);
    }
  });

  test('a turn has the size and the last turn of its sibling group and of its children, later ones included', () => {
    for (const i of positions) {
      const { tables, at, all } = find(i);
      const conversation = positions.filter((j) => corpus.conversationOf[j] === corpus.conversationOf[i]);
      const siblings = conversation.filter((j) => parent[j] === parent[i]);
      const children = conversation.filter((j) => parent[j] === i);
      const last = readFields(tables, at, 'lastSibling', 'lastChild').map((j) => all[j] ?? -1);
      expect(last).toEqual([siblings.at(-1), children.at(-1) ?? -1]);
      expect(readFields(tables, at, 'siblings', 'children')).toEqual([siblings.length, children.length]);
    }
  });

  test('homogeneity is the clipped cosine to the parent', () => {
    const listForestRow = (i: number) => [...vectors.subarray(i * FOREST_DIMENSION, (i + 1) * FOREST_DIMENSION)];
    for (const i of positions) {
      const [own, above] = [listForestRow(i), listForestRow(Math.max(parent[i]!, 0))];
      const product = own.reduce((sum, value, d) => sum + value * above[d]!, 0);
      const cosine = product === 0 ? 0 : product / Math.hypot(...own) / Math.hypot(...above);
      const { tables, at } = find(i);
      expect(readField(tables, 'homogeneity', at)).toBeCloseTo(parent[i]! < 0 ? 1 : Math.max(0, cosine), 12);
    }
  });
});

test('depths of a chain in any order', () => {
  expect([...computeDepths(Int32Array.of(3, 0, -1, 4, 2, -1, 1))]).toEqual([3, 4, 0, 2, 1, 0, 5]);
});

test('a child listed before its parent of the same time is still its child', () => {
  const pair = new Corpus([buildForestTurn('a', 'c', 'b', 1000), buildForestTurn('b', 'c', null, 1000)]);
  const tables = openFrames(pair, Float32Array.of(1, 1), Int32Array.of(1, 1)).tables(0);
  expect(readFields(tables, 0, 'parent', 'depth', 'mostChildren')).toEqual([1, 1, 1]);
  expect(readFields(tables, 1, 'parent', 'depth', 'mostChildren')).toEqual([-1, 0, 1]);
});

test('turns before a moment are counted, those of the moment not', () => {
  const times = [10, 20, 20, 30, 50];
  const turns = times.map((time, i) => buildForestTurn(`t${i}`, 'c', null, time));
  const tables = openFrames(new Corpus(turns), new Float32Array(5).fill(1), new Int32Array(5).fill(1)).tables(0);
  for (const moment of [0, 10, 15, 20, 25, 30, 40, 50, 60])
    expect(countTurnsBefore(tables, moment), `${moment}`).toBe(times.filter((time) => time < moment).length);
});

test('an empty corpus has no positions', () => {
  const { positions, dimension } = openFrames(new Corpus([]), new Float32Array(0), new Int32Array(0));
  expect([positions(0).length, dimension]).toEqual([0, 0]);
});

test('the tables of a conversation are made once, also for a corpus that has it beside others', () => {
  const kept = new WeakMap();
  const [first] = corpus.conversations;
  const tables = openFrames(corpus, vectors, components, { kept }).tables(0);
  const fewer = new Corpus(first!.turns, { like: corpus });
  const rows = (of: Corpus) => of.turns.map(({ id }) => corpus.getPosition(id));
  const own = openFrames(
    fewer,
    gatherRows(vectors, FOREST_DIMENSION, rows(fewer)),
    components.subarray(0, fewer.size),
    {
      kept,
    },
  );
  expect(own.tables(0)).toBe(tables);
});

const whole = corpus.conversations[1]!;
const own = listPositions(corpus, 1);
const rowsOf = gatherRows(vectors, FOREST_DIMENSION, own);
const counts = own.map((i) => components[i]!);

test.each([
  [`components of conversation ${whole.id}: expected`, rowsOf, counts.subarray(1), undefined],
  [`parents of conversation ${whole.id}: expected`, rowsOf, counts, new Int32Array(3)],
  [`vectors of conversation ${whole.id}: expected ${own.length} rows`, rowsOf.subarray(1), counts, undefined],
])('refuses %s', (message, rows, numbers, parent) => {
  const build = () => buildFrameTables(whole, rows, numbers, parent);
  expect(build).toThrow(DimensionMismatchError);
  expect(build).toThrow(message);
});

test('refuses arrays of another length than the corpus', () => {
  expect(() => openFrames(corpus, vectors, counts)).toThrow('components of the corpus: expected 89');
  expect(() => openFrames(corpus, vectors.subarray(1), components)).toThrow('vectors of the corpus: expected 89 rows');
});

test('refuses a turn without a component', () => {
  const id = corpus.turns[41]?.id;
  const frames = openFrames(corpus, vectors, components.with(41, 0));
  expect(() => frames.tables(corpus.conversationOf[41]!)).toThrow(`turn ${id} has 0 semantic components`);
  expect(corpus.size).toBe(FOREST_SIZE);
});
