import fc from 'fast-check';
import { expect, test } from 'vitest';
import { computeHistogram } from './histogram.ts';

test('counts what numpy counts, on edges too', () => {
  // numpy 2.4.6: numpy.histogram(values, 10)
  const expected: readonly (readonly [values: readonly number[], counts: readonly number[]])[] = [
    [
      [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
      [1, 1, 2, 0, 1, 2, 1, 0, 1, 2],
    ],
    [
      [-3, -1, 0, 0.5, 7, 7, 2, 6.9999999],
      [1, 0, 1, 2, 0, 1, 0, 0, 0, 3],
    ],
    [
      [1e9, 1e9 + 0.1, 1e9 + 0.2, 1e9 + 0.3, 1e9 + 0.4, 1e9 + 0.5, 1e9 + 0.6],
      [1, 1, 0, 1, 0, 1, 1, 0, 1, 1],
    ],
  ];
  for (const [values, counts] of expected) expect(computeHistogram(values).counts).toEqual(counts);
});

test('equal values are in the middle of a range of 1', () => {
  // numpy 2.4.6: numpy.histogram([0.7, 0.7], 10)
  expect(computeHistogram([0.7, 0.7])).toEqual({
    counts: [0, 0, 0, 0, 0, 2, 0, 0, 0, 0],
    edges: [0.19999999999999996, 0.29999999999999993, 0.39999999999999997, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2],
  });
});

test('every value is in one bin, between its edges', () => {
  const value = fc.oneof(fc.double({ min: -1e140, max: 1e140, noNaN: true }), fc.constantFrom(0, 5e-324, 1e-323, 1e20));
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 31 }), fc.integer({ min: 1, max: 11 }), (values, bins) => {
      const { counts, edges } = computeHistogram(values, bins);
      expect([counts.length, edges.length]).toEqual([bins, bins + 1]);
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(values.length);
      expect(edges).toEqual(edges.toSorted((a, b) => a - b));
      expect(edges[0]).toBeLessThanOrEqual(Math.min(...values));
      expect(edges[bins]).toBeGreaterThanOrEqual(Math.max(...values));
      for (const [bin, count] of counts.entries()) {
        const [low, high] = [edges[bin] as number, edges[bin + 1] as number];
        const inside = values.filter((x) => x >= low && (x < high || (bin === bins - 1 && x <= high)));
        expect(count).toBe(inside.length);
      }
    }),
  );
});
