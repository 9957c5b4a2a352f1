import { expect, test } from 'vitest';
import { readDisplay } from '../../core/display/display.harness.ts';
import { Conversation } from '../../model/turns/conversation.ts';
import { computeTrajectoryCoordinates, type TurnFeatures } from './coordinates.ts';

/** Two roots; r1 has children a (with child c) and b. */
const TREE: readonly (readonly [id: string, parentId: string | null, timestamp: number, components: number])[] = [
  ['r1', null, 10, 2],
  ['a', 'r1', 20, 4],
  ['b', 'r1', 30, 1],
  ['r2', null, 30, 1],
  ['c', 'a', 50, 8],
];
const conversation = new Conversation(
  'talk',
  TREE.map(([id, parentId, timestamp]) => ({
    id,
    parentId,
    timestamp,
    conversationId: 'talk',
    author: null,
    channel: null,
    text: id,
  })),
);
const EMBEDDINGS: Readonly<Record<string, number[]>> = { r1: [1, 0], a: [1, 1], b: [-1, 0], r2: [0, 2], c: [0, 0] };
const features = new Map<string, TurnFeatures>(
  TREE.map(([id, , , components]) => [id, { embedding: EMBEDDINGS[id] as number[], components }]),
);

function listCoordinateRows(options: Parameters<typeof computeTrajectoryCoordinates>[2]): Record<string, number[]> {
  const { turnIds, names, values } = computeTrajectoryCoordinates(conversation, features, options);
  return Object.fromEntries(
    turnIds.map((id, i) => [id, [...values.subarray(i * names.length, (i + 1) * names.length)]]),
  );
}

test('places turns by hand-computed figures', () => {
  expect(listCoordinateRows({ dimensions: 7 })).toEqual({
    r1: [0, 0, 1, 0, expect.closeTo(1 / 3, 12), 1, 1],
    a: [0.5, 0, expect.closeTo(Math.SQRT1_2, 12), 0.25, expect.closeTo(2 / 3, 12), 1, 0.5],
    b: [0.5, 1, 0, 0.5, 0, 1, 0],
    r2: [0, 1, 1, 0.5, 0, 1, 0],
    c: [1, 0, 0, 1, 1, 0.5, 0],
  });
});

test('does not depend on turns after asOf', () => {
  expect(listCoordinateRows({ dimensions: 3, asOf: 20 })).toEqual({
    r1: [0, 0, 1],
    a: [1, 1, expect.closeTo(Math.SQRT1_2, 12)],
  });
  expect(listCoordinateRows({ dimensions: 5, asOf: 10 })).toEqual({ r1: [0, 0, 1, 0, 1] });
  expect(listCoordinateRows({ dimensions: 5, asOf: 9 })).toEqual({});
});

test('keeps raw complexity where asked', () => {
  expect(listCoordinateRows({ dimensions: 5, complexityScale: 'raw' }).c?.[4]).toBe(8);
});

test('refuses a turn without features, without a component, or of another dimension', () => {
  const without = new Map([...features].filter(([id]) => id !== 'b'));
  const compute = (changed: ReadonlyMap<string, TurnFeatures>) => () =>
    computeTrajectoryCoordinates(conversation, changed, { dimensions: 5 });
  expect(compute(without)).toThrow('turn has no features: b');
  expect(compute(new Map([...features, ['b', { embedding: [1, 0], components: 0 }]]))).toThrow(
    'turn b has 0 semantic components',
  );
  expect(compute(new Map([...features, ['b', { embedding: [1], components: 1 }]]))).toThrow('expected 2, got 1');
});

test('coordinates are a table with a row for each turn', async () => {
  const shared = { conversationId: 'c', author: null, channel: null, text: 'x' };
  const turns = [
    { ...shared, id: 'a', parentId: null, timestamp: 0 },
    { ...shared, id: 'b', parentId: 'a', timestamp: 4 },
  ];
  const features = new Map(turns.map(({ id }) => [id, { embedding: [1, 0], components: 1 }]));
  const coordinates = computeTrajectoryCoordinates(new Conversation('c', turns), features, { dimensions: 3 });
  expect((await readDisplay(coordinates))['text/plain'].split('\n')).toEqual([
    'trajectory coordinates of 2 turns',
    'turn  depth  temporal  homogeneity',
    'a         0         0            1',
    'b         1         1            1',
  ]);
  expect(Object.keys(coordinates)).toEqual(['turnIds', 'names', 'values']);
});
