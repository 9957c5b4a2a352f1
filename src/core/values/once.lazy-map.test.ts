import { expect, test } from 'vitest';
import { LazyMap } from './once.ts';

const create = (made: string[] = []) =>
  new LazyMap(
    ['a', 'b'].map((key) => {
      const make = () => {
        made.push(key);
        return { key };
      };
      return [key, make] as const;
    }),
  );

test('a value is made each time it is asked for, and only then', () => {
  const made: string[] = [];
  const map = create(made);
  expect([map.size, map.has('a'), map.has('c'), map.get('c'), [...map.keys()]]).toEqual([
    ...[2, true, false, undefined],
    ['a', 'b'],
  ]);
  expect(made).toEqual([]);
  expect(map.get('b')).toEqual({ key: 'b' });
  expect(map.get('b')).not.toBe(map.get('b'));
  expect(made).toEqual(['b', 'b', 'b']);
});

test('every way over a map gives the values', () => {
  const expected = [
    ['a', { key: 'a' }],
    ['b', { key: 'b' }],
  ];
  const visited: unknown[] = [];
  const map = create();
  map.forEach(function visit(this: unknown, value, key, of) {
    visited.push([key, value]);
    expect([this, of]).toEqual(['self', map]);
  }, 'self');
  for (const entries of [[...map], [...map.entries()], [...new Map(map)], visited]) expect(entries).toEqual(expected);
  expect([...map.values()]).toEqual([{ key: 'a' }, { key: 'b' }]);
  expect(map).toBeInstanceOf(Map);
});

test('a value that is set is kept, and a copy that would lose the values is refused', () => {
  const map = create();
  const value = { key: 'other' };
  expect(map.set('a', value).get('a')).toBe(value);
  expect(() => structuredClone(map)).toThrow('could not be cloned');
});
