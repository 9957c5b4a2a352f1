import { describe, expect, test } from 'vitest';
import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import {
  allocateCandidates,
  assertAdmissible,
  assertQueries,
  assertQueryVectors,
  assertUnitRows,
  isZero,
} from './query-batch.ts';

const buildQueryBatch = (
  cutoffs: readonly number[],
  vectors: readonly number[] = [],
  texts = cutoffs.map(() => ''),
) => ({
  texts,
  vectors: Float32Array.from(vectors),
  cutoffs: Int32Array.from(cutoffs),
});

describe('queries', () => {
  test('see nothing, something or the whole index', () => {
    expect(() => assertQueries(buildQueryBatch([0, 3, 7]), 7, 1)).not.toThrow();
    expect(() => assertQueries(buildQueryBatch([]), 0, 5)).not.toThrow();
  });

  test.each([
    ['a k of 0', buildQueryBatch([3]), 0, ValidationError, 'k is not a positive integer: 0'],
    ['a part of a candidate', buildQueryBatch([3]), 2.5, ValidationError, 'k is not a positive integer: 2.5'],
    [
      'a text too few',
      buildQueryBatch([3, 5], [], ['a']),
      5,
      DimensionMismatchError,
      'texts of a query batch: expected 2, got 1',
    ],
    [
      'a cutoff beyond the index',
      buildQueryBatch([3, 8]),
      5,
      ValidationError,
      'cutoff is out of range: 8; pass a number in 0 … 7',
    ],
    [
      'a cutoff below 0',
      buildQueryBatch([-1, 3]),
      5,
      ValidationError,
      'cutoff is out of range: -1; pass a number in 0 … 7',
    ],
  ])('%s is refused', (_, queries, k, error, message) => {
    const check = () => assertQueries(queries, 7, k);
    expect(check).toThrow(error);
    expect(check).toThrow(message);
  });
});

describe('query vectors', () => {
  test('have the dimension of the index, a row a query', () => {
    expect(() => assertQueryVectors(buildQueryBatch([1, 2], [0.6, 0.8, 0, 0]), 2)).not.toThrow();
    const checkShortVectors = () => assertQueryVectors(buildQueryBatch([1, 2], [0.6, 0.8, 1]), 2);
    expect(checkShortVectors).toThrow(DimensionMismatchError);
    expect(checkShortVectors).toThrow('vectors of 2 queries of dimension 2: expected 4, got 3');
  });

  test('are named by their row where they are wrong', () => {
    const check = (bad: number) => () => assertQueryVectors(buildQueryBatch([1, 2], [1, 0, 0, bad]), 2);
    expect(check(Number.NaN)).toThrow(NotFiniteError);
    expect(check(Number.NEGATIVE_INFINITY)).toThrow('vector is not finite at query 1: Infinity');
    expect(check(2)).toThrow('vector of query 1 has length 2');
  });
});

test('rows may be off by what float32 rounds, and no more', () => {
  const check = (length: number) => () => assertUnitRows(Float32Array.of(0, 0, 0, length), 2, (row) => `row ${row}`);
  for (const length of [0, 1, -1, 1.0004, 0.9996]) expect(check(length)).not.toThrow();
  for (const length of [1.0006, 0.9994, 1e-3])
    expect(check(length)).toThrow(/^vector of row 1 has length \S+; normalise it$/);
});

test('empty candidates have no turn and no score anywhere', () => {
  const { positions, scores, width } = allocateCandidates(3, 5);
  expect([positions, scores, width]).toEqual([new Int32Array(15).fill(-1), new Float32Array(15), 5]);
});

test('a vector is zero where all of it is', () => {
  expect(isZero(Float32Array.of(0, -0, 0))).toBe(true);
  expect(isZero(Float32Array.of(0, 0, 1e-30))).toBe(false);
});

const candidates = { positions: Int32Array.of(4, 0, -1, 2, 1, 0), scores: new Float32Array(6), width: 3 };
/** Turns 0, 2 and 4 are of one conversation, the others of another. */
const corpus = { conversationOf: Int32Array.of(0, 1, 0, 1, 0, 1, 1, 1, 1) };

test('positions below the cutoff and empty places pass', () => {
  expect(() => assertAdmissible(candidates, buildQueryBatch([5, 3]), corpus)).not.toThrow();
});

test('a position at the cutoff is refused with its query', () => {
  expect(() => assertAdmissible(candidates, buildQueryBatch([5, 2]), corpus)).toThrow(
    'candidate of query 1 is not strictly earlier, 2 turns existed: position 2; let the index return earlier turns only',
  );
  expect(() => assertAdmissible(candidates, buildQueryBatch([4, 3]), corpus)).toThrow(ValidationError);
});

test('a turn of another conversation than the query asks is refused', () => {
  const ask = (...conversations: number[]) => ({
    ...buildQueryBatch([5, 3]),
    conversations: Int32Array.from(conversations),
  });
  expect(() => assertAdmissible(candidates, ask(0, -1), corpus)).not.toThrow();
  expect(() => assertAdmissible(candidates, ask(0, 0), corpus)).toThrow(
    'candidate of query 1 is of another conversation than the query asks: position 1; let the index return turns of that conversation only',
  );
  expect(() => assertAdmissible(candidates, ask(1, -1), corpus)).toThrow(/^candidate of query 0 .*: position 4;/);
});

test('a turn that a list hides is refused', () => {
  const see = (...visible: (number[] | null)[]) => ({
    ...buildQueryBatch([5, 3]),
    visible: visible.map((list) => (list === null ? null : Int32Array.from(list))),
  });
  expect(() => assertAdmissible(candidates, see(null, null), corpus)).not.toThrow();
  expect(() => assertAdmissible(candidates, see([0, 4], [0, 1, 2, 7]), corpus)).not.toThrow();
  expect(() => assertAdmissible(candidates, see(null, [0, 2]), corpus)).toThrow(
    'candidate of query 1 is hidden from the query: position 1; let the index return turns of the list in `visible` only',
  );
  expect(() => assertAdmissible(candidates, see([], null), corpus)).toThrow(/^candidate of query 0 .*: position 4;/);
});

test('candidates of another number of queries are refused', () => {
  expect(() => assertAdmissible(candidates, buildQueryBatch([5, 3, 9]), corpus)).toThrow(
    /^candidates of 3 queries with 3 places each have 6 places; /,
  );
});
