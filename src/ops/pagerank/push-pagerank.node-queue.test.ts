import { expect, test } from 'vitest';
import { NodeQueue } from './push-pagerank.ts';

test('the first that waits is the first that is taken, and a node waits once', () => {
  const queue = new NodeQueue(5);
  for (const node of [3, 1, 3, 4, 1]) queue.add(node);
  expect(queue.size).toBe(3);
  expect([queue.take(), queue.take()]).toEqual([3, 1]);
  for (const node of [0, 4, 2, 3, 1]) queue.add(node); // passes the end of its array
  expect(queue.size).toBe(5);
  expect(Array.from({ length: 5 }, () => queue.take())).toEqual([4, 0, 2, 3, 1]);
  expect(queue.size).toBe(0);
});
