import { expect, test } from 'vitest';
import { ValidationError } from '../errors/errors.ts';
import { finishSteps } from '../terminal/progress.ts';
import {
  computeCrc32,
  computeCrc32ByTable,
  computeHash,
  computeHashInSteps,
  computeHashOfParts,
  ListHash,
} from './hash.ts';

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

test('a hash in steps is that of the whole value', () => {
  const list = Array.from({ length: 7 }, (_, i) => ({ b: i, a: [`text ${i}`, null], c: undefined }));
  for (const value of [{}, { b: [], a: list }, { turns: list, skipped: undefined, relevantGrade: 2, 'a"b': 'x' }]) {
    let steps = 0;
    const hash = finishSteps(computeHashInSteps(value), () => steps++);
    expect(hash).toBe(computeHash(value));
    expect(steps).toBe(
      Object.values(value).reduce<number>((sum, item) => sum + (Array.isArray(item) ? item.length : 0), 0),
    );
  }
});

test('the hash of parts is that of all their bytes', () => {
  const bytes = Uint8Array.from({ length: 31 }, (_, i) => i * 7);
  expect(computeHashOfParts([bytes.subarray(0, 5), bytes.subarray(5, 5), bytes.subarray(5)])).toBe(computeHash(bytes));
  expect(computeHashOfParts([])).toBe(computeHash(''));
});

test('the hash of a list that grows is that of the list', () => {
  const longer = Array.from({ length: 20_011 }, (_, i) => [`query ${i}`, i, { b: 1, a: null }]);
  for (const items of [[], [{}], ['a', [], null], longer]) {
    const list = new ListHash();
    const half = items.length >> 1;
    for (const item of items.slice(0, half)) list.add(item);
    expect(list.read()).toBe(computeHash(items.slice(0, half)));
    for (const item of items.slice(half)) list.add(item);
    expect(list.read()).toBe(computeHash(items));
  }
});

test.each([
  ['', 0],
  ['123456789', 0xcbf43926], // the check value of the catalogue of CRCs
  ['The quick brown fox jumps over the lazy dog', 0x414fa339],
])('the CRC-32 of %j, whole and in parts', (text, expected) => {
  for (const compute of [computeCrc32, computeCrc32ByTable]) {
    expect(compute(Buffer.from(text))).toBe(expected);
    expect(compute(Buffer.from(text.slice(3)), compute(Buffer.from(text.slice(0, 3))))).toBe(expected);
  }
});
