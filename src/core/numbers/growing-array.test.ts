import { expect, test } from 'vitest';
import { GrowingArray } from './growing-array.ts';

test('numbers come after the first ones, which stay as they are', () => {
  const first = Int32Array.of(3, 1);
  const array = new GrowingArray(first);
  for (let i = 0; i < 100; i++) array.push(i);
  expect([...array.numbers]).toEqual([3, 1, ...Array(100).keys()]);
  expect([array.length, ...first]).toEqual([102, 3, 1]);
  expect(new GrowingArray(new Float64Array(0)).numbers).toHaveLength(0);
});

test('what was read does not change', () => {
  const array = new GrowingArray(new Float64Array(0));
  array.push(0.5);
  const read = array.numbers;
  array.push(2);
  expect([[...read], [...array.numbers]]).toEqual([[0.5], [0.5, 2]]);
});

test('zeros come at the end, with room for them alone where there was nothing', () => {
  const array = new GrowingArray(new Float32Array(0));
  array.extend(11);
  expect([array.numbers.length, array.numbers.buffer.byteLength]).toEqual([11, 44]);
  array.numbers[3] = 0.5;
  array.extend(0);
  array.extend(2);
  array.push(7);
  expect([...array.numbers]).toEqual([0, 0, 0, 0.5, ...Array(9).fill(0), 7]);
});
