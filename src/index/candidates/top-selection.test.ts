import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTieOrder } from '../../model/turns/tie-rule.ts';
import { allocateCandidates } from './query-batch.ts';
import { TopSelection } from './top-selection.ts';

const IDS = ['b', 'é', 'a', 'ab', 'Z', 'ﬀ', '😀', '10', '9', 'bb', 'B', '_', '~'];

test('keeps what a full sort by the tie rule puts first', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: IDS.length }),
      fc.integer({ min: 1, max: 17 }),
      (raw, k) => {
        const candidates = allocateCandidates(2, k);
        const top = new TopSelection(k, createTieOrder(IDS));
        top.offer(0, 1e9); // a first round, which must leave nothing behind
        top.drainTo(candidates, 0);
        for (const [position, value] of raw.entries()) top.offer(position, value / 7);
        top.drainTo(candidates, 1);
        const expected = raw
          .map((value, position) => ({ position, value, hex: Buffer.from(IDS[position]!).toString('hex') }))
          .sort((a, b) => b.value - a.value || (a.hex < b.hex ? 1 : -1))
          .slice(0, k);
        expect([...candidates.positions.subarray(k)].filter((position) => position >= 0)).toEqual(
          expected.map(({ position }) => position),
        );
        expect([...candidates.scores.subarray(k, k + expected.length)]).toEqual(
          expected.map(({ value }) => Math.fround(value / 7)),
        );
      },
    ),
    { numRuns: 300, seed: 23 },
  );
});

test('scores that differ only beyond float32 are equal', () => {
  const candidates = allocateCandidates(1, 2);
  const top = new TopSelection(2, createTieOrder(['a', 'b']));
  top.offer(0, 1 + 1e-12);
  top.offer(1, 1);
  top.drainTo(candidates, 0);
  expect([...candidates.positions]).toEqual([1, 0]);
});

test('tells the score that a candidate must have', () => {
  const top = new TopSelection(2, createTieOrder(['a', 'b', 'c']));
  top.offer(0, 3);
  expect(top.least).toBe(Number.NEGATIVE_INFINITY);
  top.offer(1, 5);
  expect(top.least).toBe(3);
  top.offer(2, 4);
  expect(top.least).toBe(4);
});
