import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinViews } from './frame.ts';

test('has the bytes of all views, in their order', () => {
  const buffers = [101, 70_001, 140_009].map((length, b) =>
    Uint8Array.from({ length }, (_, i) => (31 * i + b) % 251),
  ) as [Uint8Array, Uint8Array, Uint8Array];
  const view = fc.tuple(fc.nat(2), fc.nat(139_999), fc.nat(70_000)).map(([b, start, length]) => {
    const from = Math.min(start, buffers[b]!.length);
    return buffers[b]!.subarray(from, from + length);
  });
  fc.assert(
    fc.property(fc.array(view, { maxLength: 9 }), (views) => {
      expect(Buffer.concat(joinViews(views)).equals(Buffer.concat(views))).toBe(true);
    }),
    { numRuns: 100, seed: 1 },
  );
});

test('does not copy long views that follow each other, and copies short ones together', () => {
  const numbers = Float32Array.from({ length: 50_000 }, (_, i) => i);
  const rows = Array.from({ length: 50 }, (_, row) => numbers.subarray(1000 * row, 1000 * (row + 1)));
  const [all, ...none] = joinViews(rows);
  expect(none).toEqual([]);
  expect([all!.buffer, all!.byteOffset, all!.byteLength]).toEqual([numbers.buffer, 0, 200_000]);
  const head = Uint8Array.of(1, 2);
  const parts = joinViews([head, Uint8Array.of(3), ...rows.slice(20), rows[3]!, head]);
  expect(parts.map(({ byteLength }) => byteLength)).toEqual([3, 120_000, 4002]);
  expect(parts.map(({ buffer }) => buffer === numbers.buffer)).toEqual([false, true, false]);
  expect(joinViews([])).toEqual([]);
});
