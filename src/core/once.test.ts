import { expect, test } from 'vitest';
import { once } from './once.ts';

test('a value is computed when it is asked for, and once, also where it is undefined', () => {
  const calls: number[] = [];
  const value = once(() => void calls.push(7));
  expect(calls).toEqual([]);
  expect([value(), value()]).toEqual([undefined, undefined]);
  expect(calls).toEqual([7]);
});

test('what throws is tried again', () => {
  let tries = 0;
  const value = once(() => {
    tries += 1;
    if (tries === 1) throw new Error('not yet');
    return tries;
  });
  expect(value).toThrow('not yet');
  expect([value(), value()]).toEqual([2, 2]);
});
