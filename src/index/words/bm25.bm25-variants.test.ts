import { describe, expect, test } from 'vitest';
import { BM25_VARIANTS, type Bm25VariantName } from './bm25.ts';

// Their formulas are checked in bm25.test.ts, where they score turns; here is how they behave where the variants differ.
const [K1, B] = [1.3, 0.7];
const N = 97;
const ENDLESS = 1e12;

/** What each has of a term that all turns hold, for any number of occurrences, and for one in an endless turn. */
const LIMITS: Readonly<Record<Bm25VariantName, readonly [common: number, many: number, long: number]>> = {
  robertson: [0, 1, 0],
  lucene: [Math.log1p(0.5 / 97.5), 1, 0],
  atire: [0, 2.3, 0],
  bm25l: [Math.log(98 / 97.5), 2.3, (2.3 * 0.5) / 1.8],
  'bm25+': [Math.log(98 / 97), 3.3, 1],
};

test('every variant has its limits', () => {
  expect(Object.keys(LIMITS)).toEqual(Object.keys(BM25_VARIANTS));
});

describe.each(Object.entries(LIMITS) as [Bm25VariantName, readonly [number, number, number]][])(
  '%s',
  (name, [common, many, long]) => {
    const { idf, saturate } = BM25_VARIANTS[name];
    const parameters = { k1: K1, b: B };

    test('weighs a term the less, the more turns hold it, and never below 0', () => {
      for (let frequency = 1; frequency < N; frequency++) {
        const [rarer, commoner] = [idf(N, frequency), idf(N, frequency + 1)];
        expect(commoner).toBeGreaterThanOrEqual(0);
        if (commoner > 0) expect(rarer).toBeGreaterThan(commoner);
        else expect(rarer).toBeGreaterThanOrEqual(0);
      }
      expect(idf(N, N)).toBeCloseTo(common, 14);
    });

    test('counts each occurrence, each less than the one before, up to a limit', () => {
      const worth = Array.from({ length: 31 }, (_, i) => saturate(i + 1, 1.1, parameters));
      const gains = worth.slice(1).map((value, i) => value - worth[i]!);
      for (const [i, gain] of gains.entries()) expect(gain > 0 && gain < (gains[i - 1] ?? Infinity)).toBe(true);
      expect(saturate(ENDLESS, 1.1, parameters)).toBeCloseTo(many, 9);
    });

    test('counts an occurrence less in a longer turn, down to a limit, unless b is 0', () => {
      expect(saturate(1, 3, parameters)).toBeLessThan(saturate(1, 0.2, parameters));
      expect(saturate(1, ENDLESS, parameters)).toBeCloseTo(long, 9);
      expect(saturate(5, 1, parameters)).toBe(saturate(5, 1, { k1: K1, b: 0 })); // of average length
      expect(saturate(5, 3, { k1: K1, b: 0 })).toBe(saturate(5, 0.2, { k1: K1, b: 0 }));
    });
  },
);
