import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quantile, wilsonInterval } from './distributions.ts';

test('its ends are the shares that lie z standard errors from what was seen', () => {
  const z = 3.29;
  for (const [hits, n] of [
    [1, 11],
    [497, 10_007],
    [10_006, 10_007],
  ] as const) {
    const { low, high } = wilsonInterval(hits, n, z);
    for (const end of [low, high])
      expect(Math.abs(hits / n - end)).toBeCloseTo(z * Math.sqrt((end * (1 - end)) / n), 12);
  }
});

test('agrees with scipy', () => {
  // scipy 1.17.1: binomtest(496, 10000).proportion_ci(0.95, 'wilson'), binomtest(0, 997).proportion_ci(0.999, 'wilson')
  const { low, high } = wilsonInterval(496, 10_000, 1.959963984540054);
  expect(low).toBeCloseTo(0.04551483891184552, 12);
  expect(high).toBeCloseTo(0.05403106682045995, 12);
  expect(wilsonInterval(0, 997, 3.2905267314919255).high).toBeCloseTo(0.010743470940969897, 12);
});

test('no hit and nothing but hits end at 0 and 1', () => {
  expect(wilsonInterval(0, 997, 3.29).low).toBe(0);
  expect(wilsonInterval(997, 997, 3.29).high).toBe(1);
  expect(wilsonInterval(0, 997, 3.29).high).toBeCloseTo(3.29 ** 2 / (997 + 3.29 ** 2), 12);
});

test('holds the share and is within 0 to 1', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5000 }), fc.double({ min: 0, max: 1, noNaN: true }), (n, part) => {
      const hits = Math.round(n * part);
      const { low, high } = wilsonInterval(hits, n, 3.29);
      expect(low).toBeGreaterThanOrEqual(0);
      expect(high).toBeLessThanOrEqual(1);
      expect(low).toBeLessThanOrEqual(hits / n);
      expect(high).toBeGreaterThanOrEqual(hits / n);
    }),
  );
});

test('lies between two values in proportion', () => {
  // numpy 2.4: numpy.quantile([1, 3, 7, 13, 31], [0, 0.05, 0.5, 0.95, 1])
  const values = Float64Array.of(1, 3, 7, 13, 31);
  const expected = [1, 1.4, 7, 27.4, 31];
  for (const [i, share] of [0, 0.05, 0.5, 0.95, 1].entries())
    expect(quantile(values, share)).toBeCloseTo(expected[i] as number, 12);
});

test('of one value is that', () => {
  for (const share of [0, 0.37, 1]) expect(quantile(Float64Array.of(17), share)).toBe(17);
});
