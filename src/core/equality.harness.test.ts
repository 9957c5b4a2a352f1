import { describe, expect, test } from 'vitest';
import { compareBytes } from './equality.harness.ts';

const numbers = Float32Array.of(1, 0, Number.NaN, Number.POSITIVE_INFINITY);
const cut = new Float32Array([7, ...numbers, 7]).subarray(1, 5);

describe('typed arrays', () => {
  test('of the same bytes are equal', () => {
    expect(compareBytes(numbers, cut)).toBe(true);
    expect(compareBytes(new BigInt64Array(3), new BigInt64Array(3))).toBe(true);
    expect({ rows: [cut] }).toStrictEqual({ rows: [numbers] });
  });

  test.each([
    ['another number', Float32Array.of(1, 0, Number.NaN, 3)],
    ['the other zero', Float32Array.of(1, -0, Number.NaN, Number.POSITIVE_INFINITY)],
    ['fewer numbers', numbers.subarray(0, 3)],
    ['more numbers', Float32Array.of(...numbers, 0)],
    ['another class', new Int32Array(numbers.buffer)],
    ['an array', [...numbers]],
    ['a view without numbers', new DataView(numbers.buffer)],
  ])('with %s are not', (_, other) => {
    expect(compareBytes(numbers, other)).toBeUndefined();
    expect(numbers).not.toEqual(other);
    expect([{ rows: other }]).not.toEqual([{ rows: numbers }]);
  });

  test('of other bytes of one number are equal too', () => {
    const [quiet, signed] = [0x7fc00000, 0xffc00000].map((bits) => new Float32Array(Uint32Array.of(bits).buffer));
    expect(compareBytes(quiet, signed)).toBeUndefined();
    expect(quiet).toEqual(signed);
  });
});

test('the same testers are added once for all files of a worker', async () => {
  const before = countTesters();
  await import('./equality.harness.ts?again' as string);
  expect(countTesters()).toBe(before);
  expect(before).toBe(1);
});

/** Vitest keeps the testers that were added in a global of this name. */
function countTesters(): number {
  const { customEqualityTesters } = (globalThis as Record<symbol, unknown>)[Symbol.for('$$jest-matchers-object')] as {
    readonly customEqualityTesters: readonly unknown[];
  };
  return customEqualityTesters.length;
}
