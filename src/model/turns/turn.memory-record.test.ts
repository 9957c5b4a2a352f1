import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { attributesSchema } from './memory-fields.ts';
import { toMemoryRecord, toTurn } from './turn.ts';

const text = fc.string({ unit: 'grapheme', minLength: 1 });
const name = fc.string({ minLength: 1 }).map((key) => `key ${key}`);
const value = fc.oneof(
  text,
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, min: -1e9, max: 1e9 }),
  fc.boolean(),
  fc.array(text),
);
const attributes = fc
  .tuple(
    fc.dictionary(name, value),
    fc.record({ outcome: fc.double({ noNaN: true, min: -9, max: 9 }) }, { requiredKeys: [] }),
  )
  .map(([other, own]) => ({ ...other, ...own }));
const turn = fc
  .record({
    id: text,
    conversationId: text,
    parentId: fc.option(text),
    timestamp: fc.integer(),
    author: fc.option(text),
    channel: fc.option(text),
    text,
    attributes,
  })
  .map(({ attributes: given, ...own }) => (Object.keys(given).length === 0 ? own : { ...own, attributes: given }));
const parts = fc.record({
  embedding: fc.float32Array({ noNaN: true }),
  stats: fc.constant({ count: 1, mean: 2, m2: 0, min: 2, max: 2 }),
  trajectory: fc.constantFrom(null, { depth: 0, siblingOrder: 1, homogeneity: 0.5, temporal: 0.25, complexity: 0 }),
});

test('a turn becomes a record and a turn again, and a record a turn and a record again', () => {
  fc.assert(
    fc.property(turn, parts, (given, own) => {
      const record = toMemoryRecord(given, own);
      expect(toTurn(record)).toEqual(given);
      expect(toMemoryRecord(toTurn(record), record)).toEqual(record);
      expect(attributesSchema.safeParse('attributes' in given ? given.attributes : {}).success).toBe(true);
    }),
  );
});

describe('attributes are refused', () => {
  test.each([
    ['a whole number beyond 2^53 - 1', { big: 2 ** 53 }],
    ['NaN', { part: Number.NaN }],
    ['an infinite number', { part: Number.POSITIVE_INFINITY }],
    ['null', { part: null }],
    ['an object', { part: {} }],
    ['a list of numbers', { part: [1] }],
    ['a field of the turn as key', { channel: 'a' }],
    ['an empty key', { '': 1 }],
    ['half a surrogate pair', { part: '\ud800' }],
    ['half a surrogate pair in a list', { part: ['\ud800'] }],
    ['an outcome that is a text', { outcome: 'good' }],
    ['an importance beyond 1', { importance: 1.5 }],
    ['entities that are a text', { entities: 'Ann' }],
    ['a sensitivity that is a number', { sensitive: 1 }],
  ])('%s', (_, given) => {
    expect(attributesSchema.safeParse(given).success).toBe(false);
  });
});
