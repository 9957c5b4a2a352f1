import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseRow, RESERVED_ATTRIBUTES, TURN_FIELDS } from '../../model/turns/memory-fields.ts';
import { EMPTY_OUTCOME_STATISTICS, memoryRecordFields, memoryRecordSchema } from '../../model/turns/turn.ts';
import { readPlainRecord } from './own-records.ts';

const vector = Float32Array.of(0.6, -0, Number.NaN);
const least = { id: 'r', embedding: vector, context: '', createdAt: 0 };

/** Texts, among them such as no store holds. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', 'é', '𝒳', '\0', 'a\0b', '\ud800', 'a\udc00', '\udc00\ud800', 'semantic', 'episodic', 'summary'),
);
const number = fc.oneof(
  fc.double(),
  fc.constantFrom(0, -0, 1, 1.5, -1e17, 2 ** 53 - 1, -(2 ** 53), 2 ** 53, 8.64e15, 8.64e15 + 2, 1e140),
);
const anything = fc.oneof(
  text,
  number,
  fc.boolean(),
  fc.constantFrom(null, undefined),
  fc.array(text, { maxLength: 3 }),
);
const attributes = fc.dictionary(
  fc.oneof(fc.constantFrom(...RESERVED_ATTRIBUTES, ...TURN_FIELDS, '__proto__', '7'), text),
  fc.oneof(anything, fc.constantFrom([], ['a', 7], new Array(1), { a: 1 })),
  { maxKeys: 3, noNullPrototype: false },
);
const fields = {
  id: text,
  embedding: fc.constantFrom<unknown>(vector, new Float64Array(3), [1], null),
  context: text,
  createdAt: number,
  outcome: fc.oneof(number, anything),
  metadata: fc.oneof(attributes, fc.constantFrom({}, null, undefined, [], new Date(0), { '': 1 })),
  stats: fc.constantFrom<unknown>(EMPTY_OUTCOME_STATISTICS, { ...EMPTY_OUTCOME_STATISTICS }, undefined, null),
  trajectory: fc.constantFrom<unknown>(null, undefined, { depth: 1 }),
  conversationId: anything,
  parentId: anything,
  author: anything,
  channel: anything,
};
/** Records as a caller writes them, of which some fields are wrong. */
const input = fc.oneof(
  fc.record(fields, { requiredKeys: [], noNullPrototype: false }).map((some) => ({ ...least, ...some })),
  ...Object.entries(fields).map(([name, value]) => fc.record({ [name]: value }).map((one) => ({ ...least, ...one }))),
  fc.record(fields, { requiredKeys: ['id', 'embedding', 'context', 'createdAt'] }),
  fc.constantFrom<unknown>(null, [], 'r', { ...least, id: undefined }, { ...least, other: 1 }, Object.create(least)),
);

test('what is read without the schema is what the schema makes of it', () => {
  let read = 0;
  fc.assert(
    fc.property(input, (given) => {
      const plain = readPlainRecord(given);
      if (plain === null) return;
      read++;
      const parsed = parseRow(memoryRecordSchema, given, 'a record');
      expect(plain).toStrictEqual(parsed);
      expect(Object.keys(plain)).toEqual(memoryRecordFields);
      expect(JSON.stringify(plain)).toBe(JSON.stringify(parsed));
    }),
    { numRuns: 3000, seed: 11 },
  );
  expect(read).toBeGreaterThan(300);
});

test.each([
  ['the least fields', least],
  ['every field', { ...least, ...{ outcome: -0.5, metadata: {}, stats: EMPTY_OUTCOME_STATISTICS, trajectory: null } }],
  ['a turn', { ...least, conversationId: 'c', parentId: 'p', author: 'é', channel: '' }],
  ['free attributes', { ...least, metadata: { a: 'b', '7': 7, c: 0.5, d: true, e: ['f', ''] } }],
  [
    'reserved attributes',
    {
      ...least,
      metadata: {
        ...{ importance: 1, memoryType: 'episodic', source: 's', phase: 'p', userId: 'u' },
        ...{ entities: ['e'], useCount: 7, sensitive: true },
      },
    },
  ],
])('%s are read without the schema', (_, given) => {
  expect(readPlainRecord(given)).toStrictEqual(parseRow(memoryRecordSchema, given, 'a record'));
});

test('attributes are copied, and shared by no two records unless there are none', () => {
  const metadata = { entities: ['a'], phase: 'p' };
  const plain = readPlainRecord({ ...least, metadata })!;
  metadata.entities.push('b');
  metadata.phase = 'q';
  expect(plain.metadata).toEqual({ entities: ['a'], phase: 'p' });
  expect(Object.isFrozen(readPlainRecord(least)!.metadata)).toBe(true);
});

test.each([
  ['a long text', { ...least, context: 'x'.repeat(2 ** 20 + 1) }],
  ['a long list', { ...least, metadata: { a: Array.from({ length: 1001 }, () => 'x') } }],
  ['many attributes', { ...least, metadata: Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`a${i}`, i])) }],
  ['a hidden attribute', { ...least, metadata: Object.defineProperty({}, 'a', { value: 1 }) }],
  ['an attribute without a name', { ...least, metadata: { [Symbol('a')]: 1 } }],
  ['a fact', { ...least, metadata: { memoryType: 'semantic', subject: 'a', predicate: 'b', object: 'c' } }],
])('%s is left to the schema', (_, given) => {
  expect(readPlainRecord(given)).toBe(null);
});
