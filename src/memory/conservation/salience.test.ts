import fc from 'fast-check';
import { expect, test } from 'vitest';
import { computeSalience } from './salience.ts';

const DAY = 86_400_000;
const record = (createdAt: number, metadata = {}) => ({ createdAt, metadata });

test('salience is importance times the logarithm of uses, halved with each half-life of age', () => {
  expect(computeSalience(record(0), null, 7)).toBe(0.5);
  expect(computeSalience(record(0, { memoryType: 'summary' }), null, 0)).toBe(0.9);
  expect(computeSalience(record(0, { importance: 0.25, useCount: 6 }), null, 0)).toBeCloseTo(0.25 * (1 + Math.log(7)));
  expect(computeSalience(record(3 * DAY, { importance: 0.8 }), 24, 5 * DAY)).toBeCloseTo(0.2, 15);
  expect(computeSalience(record(3 * DAY, { importance: 0.8 }), 24, 2 * DAY)).toBeCloseTo(1.6, 15);
});

test('no origin changes the shares of salience', () => {
  const drawn = fc.tuple(fc.nat(400 * DAY), fc.double({ min: 0.01, max: 1, noNaN: true }), fc.nat(1000));
  fc.assert(
    fc.property(drawn, drawn, fc.nat(400 * DAY), ([timeA, a, usesA], [timeB, b, usesB], origin) => {
      const compute = (from: number) =>
        computeSalience(record(timeA, { importance: a, useCount: usesA }), 240, from) /
        computeSalience(record(timeB, { importance: b, useCount: usesB }), 240, from);
      expect(compute(origin) / compute(0)).toBeCloseTo(1, 9);
    }),
  );
});

test('a time that is far away makes no number that is not known', () => {
  const far = 8.64e15;
  expect(computeSalience(record(-far), 1e-300, far)).toBe(0);
  expect(computeSalience(record(far), 1e-300, -far)).toBe(Number.POSITIVE_INFINITY);
  expect(computeSalience(record(far, { importance: 0 }), 1e-300, -far)).toBe(0);
});
