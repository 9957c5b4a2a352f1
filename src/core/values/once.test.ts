import { expect, test } from 'vitest';
import { getOrCompute, once } from './once.ts';

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

test('the value of a key is computed once, also where it is undefined', () => {
  const kept = new Map<string, number | undefined>([['seven', 7]]);
  const asked: string[] = [];
  const lengthOf = (key: string) => {
    asked.push(key);
    return key === '' ? undefined : key.length;
  };
  const values = ['seven', 'eleven', '', 'eleven', ''].map((key) => getOrCompute(kept, key, lengthOf));
  expect(values).toEqual([7, 6, undefined, 6, undefined]);
  expect(asked).toEqual(['eleven', '']);
  expect([...kept]).toEqual([
    ['seven', 7],
    ['eleven', 6],
    ['', undefined],
  ]);
});

test('a key whose computation throws is tried again', () => {
  const kept = new Map<string, number>();
  const fail = () => {
    throw new Error('not yet');
  };
  expect(() => getOrCompute(kept, 'key', fail)).toThrow('not yet');
  expect(kept.size).toBe(0);
  expect(getOrCompute(kept, 'key', () => 3)).toBe(3);
});
