import { expect, test } from 'vitest';
import { DimensionMismatchError } from '../errors/errors.ts';
import { assertShape } from './rows.ts';

const buildShaped = (...shape: number[]) => ({ shape });

test('letters are bound by the first tensor and hold for the next', () => {
  const sizes = assertShape('queries', buildShaped(3, 7), 'B D');
  expect(assertShape('keys', buildShaped(5, 7), 'C D', sizes)).toEqual({ B: 3, D: 7, C: 5 });
});

test('a mismatch prints the bindings and the shape', () => {
  const sizes = assertShape('queries', buildShaped(3, 7), 'B D');
  expect(() => assertShape('keys', buildShaped(5, 11), 'C D', sizes)).toThrow(DimensionMismatchError);
  expect(() => assertShape('keys', buildShaped(5, 11), 'C D', { ...sizes })).toThrow(
    'shape of keys: expected [C, D] with B=3, D=7, C=5, got [5, 11]',
  );
});

test('a wrong rank and a fixed size are refused', () => {
  expect(() => assertShape('mask', buildShaped(3), 'B C')).toThrow(/got \[3\]/);
  expect(() => assertShape('coordinates', buildShaped(3, 4), 'T 5')).toThrow(/expected \[T, 5\]/);
  expect(assertShape('scalar', buildShaped(), '')).toEqual({});
});
