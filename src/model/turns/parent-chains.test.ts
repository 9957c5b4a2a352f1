import { describe, expect, test } from 'vitest';
import { findChainEnds } from './parent-chains.ts';

const listChainEnds = (parents: Readonly<Record<string, string | null>>) =>
  Object.fromEntries(findChainEnds(Object.keys(parents), (id) => parents[id] ?? null));

describe('the end of a chain of parents', () => {
  test('is its root', () => {
    expect(listChainEnds({ c: 'b', b: 'a', a: null, e: 'b', d: null })).toEqual({
      a: 'a',
      b: 'a',
      c: 'a',
      e: 'a',
      d: 'd',
    });
  });

  test('is the id itself on a cycle, and the first id of the cycle below one', () => {
    expect(listChainEnds({ z: 'y', y: 'b', c: 'b', b: 'a', a: 'c', x: 'c' })).toEqual({
      z: 'b',
      y: 'b',
      a: 'a',
      b: 'b',
      c: 'c',
      x: 'c',
    });
    expect(listChainEnds({ a: 'a', b: 'a' })).toEqual({ a: 'a', b: 'a' });
  });
});

/** How often a parent is asked for. */
function countParentSteps(size: number, parentOf: (turn: number) => number | null): number {
  let count = 0;
  const ids = Array.from({ length: size }, (_, i) => String(i));
  findChainEnds(ids, (id) => {
    count++;
    const parent = parentOf(Number(id));
    return parent === null ? null : String(parent);
  });
  return count;
}

test.each<[string, (size: number) => (turn: number) => number | null]>([
  ['a long chain', () => (turn) => (turn === 0 ? null : turn - 1)],
  ['a long chain from its end', (size) => (turn) => (turn === size - 1 ? null : turn + 1)],
  ['a long cycle', (size) => (turn) => (turn + 1) % size],
  ['a long chain below a cycle', () => (turn) => Math.abs(turn - 1)],
])('%s costs a step or two an id', (_, parentOf) => {
  for (const size of [1009, 2003]) expect(countParentSteps(size, parentOf(size))).toBeLessThanOrEqual(3 * size);
});
