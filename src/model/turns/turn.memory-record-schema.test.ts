import { expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { parse } from '../../core/validation/validation.ts';
import { EMPTY_OUTCOME_STATISTICS, type MemoryRecordInput, memoryRecordSchema } from './turn.ts';

const least: MemoryRecordInput = { id: 'a', embedding: Float32Array.of(1, 2), context: 'text', createdAt: 3 };
const whole = {
  ...least,
  outcome: 0.5,
  metadata: { phase: 'plan', entities: ['x'], importance: 1, mine: 7 },
  stats: { count: 1, mean: 0.5, m2: 0, min: 0.5, max: 0.5 },
  trajectory: { depth: 1, siblingOrder: 2, homogeneity: 3, temporal: 4, complexity: 5 },
  conversationId: 'c',
  parentId: 'b',
  author: 'ann',
  channel: 'mail',
};

test('what is missing has its default, what is given stays', () => {
  expect(parse(memoryRecordSchema, least, 'record')).toEqual({
    ...least,
    outcome: null,
    metadata: {},
    stats: EMPTY_OUTCOME_STATISTICS,
    trajectory: null,
    conversationId: 'a',
    parentId: null,
    author: null,
    channel: null,
  });
  expect(parse(memoryRecordSchema, whole, 'record')).toEqual(whole);
});

test.each([
  [{ embeding: [1] }, 'embeding: expected one of'],
  [{ embedding: [1, 2] }, 'embedding: expected Float32Array'],
  [{ id: '' }, 'id: expected'],
  [{ context: '\ud800' }, 'context: expected a text of well-formed Unicode'],
  [{ outcome: Number.NaN }, 'outcome: expected a finite number, got NaN'],
  [{ createdAt: 1.7e18 }, 'createdAt: expected a time in milliseconds since 1970, at most 8.64e15, got 1700'],
  [{ createdAt: Number.NaN }, 'createdAt: expected a time in milliseconds since 1970, at most 8.64e15, got NaN'],
  [{ metadata: { outcome: 1 } }, 'metadata: expected no outcome, which is a field of the record'],
  [{ metadata: { importance: 2 } }, 'metadata.importance: expected number <= 1, got 2'],
  [{ stats: { count: 0.5, mean: 0, m2: 0, min: null, max: null } }, 'stats.count: expected int'],
])('%o is refused', (change, message) => {
  const read = () => parse(memoryRecordSchema, { ...least, ...change }, 'record a');
  expect(read).toThrow(ConfigurationError);
  expect(read).toThrow(message);
});

test('a record that is parsed again has its fields in the same order', () => {
  const once = memoryRecordSchema.parse({ id: 'a', embedding: Float32Array.of(1), context: 'text', createdAt: 0 });
  expect(Object.keys(memoryRecordSchema.parse(once))).toEqual(Object.keys(once));
});
