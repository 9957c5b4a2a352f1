import { expect, test } from 'vitest';
import { ValidationError } from './errors.ts';
import { hashOf } from './hash.ts';

test('is SHA-256 of the text', () => {
  expect(hashOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'); // FIPS 180-2, appendix B.1
});

test('does not depend on the order of keys, but on that of elements and on types', () => {
  expect(hashOf({ a: 1, b: [1, 2] })).toBe(hashOf({ b: [1, 2], a: 1 }));
  expect(hashOf({ b: [2, 1] })).not.toBe(hashOf({ b: [1, 2] }));
  expect(hashOf({ a: 1 })).not.toBe(hashOf({ a: '1' }));
  expect(hashOf({ a: undefined })).toBe(hashOf({}));
  expect(hashOf({ a: null })).not.toBe(hashOf({}));
});

test('reads the bytes of a view, not of the whole buffer behind it', () => {
  const whole = Float32Array.of(1, 2, 3);
  expect(hashOf(whole.subarray(1, 2))).toBe(hashOf(Float32Array.of(2)));
  expect(hashOf(whole)).not.toBe(hashOf(Float32Array.of(2)));
});

test('a view within a value counts by its bytes', () => {
  expect(hashOf({ a: Int32Array.of(1, 2) })).toBe(hashOf({ a: Int32Array.of(1, 2, 3).subarray(0, 2) }));
  expect(hashOf({ a: Int32Array.of(1, 2) })).not.toBe(hashOf({ a: Int32Array.of(2, 1) }));
});

test.each([
  ['Map', new Map([['a', 1]])],
  ['Set', new Set([1])],
  ['Date', new Date(7)],
  ['Box', new (class Box {})()],
])('a %s, of which the entries tell nothing, is refused wherever it stands', (name, value) => {
  expect(() => hashOf(value)).toThrow(ValidationError);
  expect(() => hashOf({ a: [1, { b: value }] })).toThrow(new RegExp(`^only plain objects have a hash: ${name}; `));
});

test('an object without a prototype is plain', () => {
  expect(hashOf(Object.assign(Object.create(null), { a: 1 }))).toBe(hashOf({ a: 1 }));
});
