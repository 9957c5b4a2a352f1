import { expect, test } from 'vitest';
import { freezeDeeply } from './once.ts';

test('all plain values below a table are frozen, functions and instances are not', () => {
  const map = new Map([['a', 1]]);
  const fuse = () => 3;
  const table = freezeDeeply({ list: [1, { deep: 2 }], map, entry: { fuse } });
  expect(Object.isFrozen(table)).toBe(true);
  expect(() => (table.list as unknown[]).push(5)).toThrow(TypeError);
  expect(() => Object.assign(table.list[1] as object, { deep: 3 })).toThrow(TypeError);
  expect(() => Object.assign(table.entry, { fuse: () => 5 })).toThrow(TypeError);
  map.set('b', 2);
  expect(table.map.size).toBe(2);
  expect(table.entry.fuse()).toBe(3);
});

test('what is no table comes back as it is', () => {
  expect([freezeDeeply(3), freezeDeeply(null), freezeDeeply('x')]).toEqual([3, null, 'x']);
});
