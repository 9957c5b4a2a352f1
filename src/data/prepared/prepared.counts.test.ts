import { expect, test } from 'vitest';
import { Counts } from './prepared.ts';

test('counts add up by name, and names stand as they first came up', () => {
  const counts = new Counts();
  counts.add('b');
  counts.add('a', 0);
  counts.add('b', 5);
  counts.add('c', 2);
  counts.add('a', 3);
  expect(Object.entries(counts.toFacts())).toEqual([
    ['b', 6],
    ['a', 3],
    ['c', 2],
  ]);
  expect(['a', 'b', 'd'].map((name) => counts.get(name))).toEqual([3, 6, 0]);
  expect(Object.keys(counts.toFacts())).not.toContain('d');
});

test('a name of which nothing was counted appears with 0', () => {
  const counts = new Counts();
  counts.add('a', 0);
  expect(counts.toFacts()).toEqual({ a: 0 });
});
