import { expect, test } from 'vitest';
import { ValidationError } from './errors.ts';
import { computeHash } from './hash.ts';

test('is SHA-256 of the text', () => {
  expect(computeHash('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'); // FIPS 180-2, appendix B.1
});

test('does not depend on the order of keys, but on that of elements and on types', () => {
  expect(computeHash({ a: 1, b: [1, 2] })).toBe(computeHash({ b: [1, 2], a: 1 }));
  expect(computeHash({ b: [2, 1] })).not.toBe(computeHash({ b: [1, 2] }));
  expect(computeHash({ a: 1 })).not.toBe(computeHash({ a: '1' }));
  expect(computeHash({ a: undefined })).toBe(computeHash({}));
  expect(computeHash({ a: null })).not.toBe(computeHash({}));
});

test('reads the bytes of a view, not of the whole buffer behind it', () => {
  const whole = Float32Array.of(1, 2, 3);
  expect(computeHash(whole.subarray(1, 2))).toBe(computeHash(Float32Array.of(2)));
  expect(computeHash(whole)).not.toBe(computeHash(Float32Array.of(2)));
});

test('a view within a value counts by its bytes', () => {
  expect(computeHash({ a: Int32Array.of(1, 2) })).toBe(computeHash({ a: Int32Array.of(1, 2, 3).subarray(0, 2) }));
  expect(computeHash({ a: Int32Array.of(1, 2) })).not.toBe(computeHash({ a: Int32Array.of(2, 1) }));
});

test.each([
  ['Map', new Map([['a', 1]])],
  ['Set', new Set([1])],
  ['Date', new Date(7)],
  ['Box', new (class Box {})()],
])('a %s, of which the entries tell nothing, is refused wherever it stands', (name, value) => {
  expect(() => computeHash(value)).toThrow(ValidationError);
  expect(() => computeHash({ a: [1, { b: value }] })).toThrow(new RegExp(`^only plain objects have a hash: ${name}; `));
});

test('an object without a prototype is plain', () => {
  expect(computeHash(Object.assign(Object.create(null), { a: 1 }))).toBe(computeHash({ a: 1 }));
});
