import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RunningSums } from './conservation-stream.ts';

test('light terms survive a heavy one that comes and goes, where a plain sum loses them', () => {
  const sums = new RunningSums(3);
  let plain = 0;
  for (const term of [0.1, 0.7, 1e15, -1e15]) {
    sums.add(1, term);
    plain += term;
  }
  expect(Math.abs(plain - 0.8)).toBeGreaterThan(0.01);
  expect(sums.getSum(1)).toBeCloseTo(0.8, 15);
  expect([sums.getSum(0), sums.getSum(2)]).toEqual([0, 0]);
  expect([...sums.listSums(1)]).toEqual([sums.getSum(1), 0]);
  sums.clear();
  expect(sums.getSum(1)).toBe(0);
});

test('integers of any order of magnitude are summed as BigInt sums them', () => {
  const term = fc.tuple(fc.integer(), fc.integer({ min: 0, max: 60 })).map(([digits, power]) => digits * 2 ** power);
  fc.assert(
    fc.property(fc.array(term, { maxLength: 53 }), (terms) => {
      const sums = new RunningSums(1);
      for (const value of terms) sums.add(0, value);
      expect(sums.getSum(0)).toBe(Number(terms.reduce((sum, value) => sum + BigInt(value), 0n)));
    }),
  );
});
