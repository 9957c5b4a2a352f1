import { expect, test } from 'vitest';
import { ValidationError } from '../core/errors.ts';
import { assertAdmissible } from './admissible.ts';

const candidates = { positions: Int32Array.of(4, 0, -1, 2, 1, 0), scores: new Float32Array(6), width: 3 };

test('positions below the cutoff and empty places pass', () => {
  expect(() => assertAdmissible(candidates, Int32Array.of(5, 3))).not.toThrow();
});

test('a position at the cutoff is refused with its query', () => {
  expect(() => assertAdmissible(candidates, Int32Array.of(5, 2))).toThrow(
    'candidate of query 1 is not strictly earlier, 2 turns existed: position 2',
  );
  expect(() => assertAdmissible(candidates, Int32Array.of(4, 3))).toThrow(ValidationError);
});

test('candidates of another number of queries are refused', () => {
  expect(() => assertAdmissible(candidates, Int32Array.of(5, 3, 9))).toThrow(
    /^candidates of 3 queries with 3 places each have 6 places; /,
  );
});
