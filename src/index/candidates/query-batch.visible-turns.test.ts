import { describe, expect, test } from 'vitest';
import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { assertVisibleLists, groupByVisibleList, isListed, listVisibleTurns } from './query-batch.ts';

const LIST = Int32Array.of(1, 4, 5, 9);
const see = (...visible: (Int32Array | null)[]) => ({ cutoffs: Int32Array.of(5, 0, 10), visible });

test('a position is in a list or not', () => {
  expect([0, 1, 2, 4, 5, 8, 9, 10].filter((position) => isListed(LIST, position))).toEqual([1, 4, 5, 9]);
  expect(isListed(new Int32Array(0), 0)).toBe(false);
});

test('a query sees the part of its list before its cutoff, without a copy', () => {
  const lists = [0, 1, 2].map((query) => listVisibleTurns(see(LIST, LIST, LIST), query));
  expect(lists.map((list) => list && [...list])).toEqual([[1, 4], [], [1, 4, 5, 9]]);
  expect(lists[0]?.buffer).toBe(LIST.buffer);
  expect(listVisibleTurns(see(null, LIST, LIST), 0)).toBeNull();
  expect(listVisibleTurns({ cutoffs: Int32Array.of(5) }, 0)).toBeNull();
});

test('queries that share an array are one group', () => {
  expect([...groupByVisibleList(see(LIST, null, LIST))]).toEqual([
    [LIST, [0, 2]],
    [null, [1]],
  ]);
  expect(groupByVisibleList(see(LIST, null, LIST.slice())).size).toBe(3);
  expect([...groupByVisibleList({ cutoffs: Int32Array.of(5, 0) })]).toEqual([[null, [0, 1]]]);
});

describe('lists at the door', () => {
  test('may be empty, whole, shared or missing', () => {
    expect(() => assertVisibleLists(see(LIST, null, LIST), 10)).not.toThrow();
    expect(() => assertVisibleLists(see(new Int32Array(0), Int32Array.of(0), null), 1)).not.toThrow();
    expect(() => assertVisibleLists({ cutoffs: Int32Array.of(3) }, 3)).not.toThrow();
  });

  test.each([
    [[1, 5, 4], 'visible turns of query 2 do not ascend: 4 after 5; sort them and list each once'],
    [[1, 4, 4], 'visible turns of query 2 do not ascend: 4 after 4; sort them and list each once'],
    [[-1, 4], 'visible turn of query 2 is outside the corpus of 10: -1; list positions in 0 … 9'],
    [[1, 10], 'visible turn of query 2 is outside the corpus of 10: 10; list positions in 0 … 9'],
  ])('%j is refused', (list, message) => {
    const check = () => assertVisibleLists(see(LIST, null, Int32Array.from(list)), 10);
    expect(check).toThrow(ValidationError);
    expect(check).toThrow(message);
  });

  test('are as many as the queries', () => {
    expect(() => assertVisibleLists(see(LIST), 10)).toThrow(new DimensionMismatchError('lists of visible turns', 3, 1));
  });

  test('are read once for all queries that share them', () => {
    let reads = 0;
    const list = new Proxy(LIST, {
      get(target, key) {
        if (typeof key === 'string' && /^\d+$/.test(key)) reads++;
        return Reflect.get(target, key, target) as unknown;
      },
    });
    const count = 1009;
    assertVisibleLists({ cutoffs: new Int32Array(count), visible: Array<Int32Array>(count).fill(list) }, 10);
    expect(reads).toBeLessThanOrEqual(2 * LIST.length);
  });
});
