import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { clipCosine, computeHomogeneities, computeSquaredLengths } from './homogeneity.ts';

const [N, D] = [103, 13];
const source = createRandom(3, 'homogeneity.test');
const rows = Array.from({ length: N }, () => Array.from({ length: D }, () => Math.fround(5 * source.drawNormal())));
rows[7] = Array(D).fill(0);
rows[11] = (rows[5] as number[]).map((value) => 2 * value);
rows[17] = (rows[5] as number[]).map((value) => -value);
const parents = Int32Array.from(rows, (_, turn) => (turn % 10 === 0 ? -1 : source.integer(turn)));
parents.set([7, 5, 5], 9); // turn 9 under the zero vector, 10 and 11 under turn 5
parents[17] = 5;

/** One pair at a time, as the definition has it. */
const expected = rows.map((row, turn) => {
  const parent = parents[turn] as number;
  if (parent < 0) return 1;
  const other = rows[parent] as number[];
  const dot = row.reduce((sum, value, d) => sum + value * (other[d] as number), 0);
  return dot <= 0 ? 0 : dot / (Math.hypot(...row) * Math.hypot(...other));
});

test.each([Float32Array, Float64Array])(
  'of all turns at once is the cosine to each parent, in numbers of $BYTES_PER_ELEMENT bytes',
  (Numbers) => {
    const vectors = Numbers.from(rows.flat());
    const got = computeHomogeneities(vectors, computeSquaredLengths(vectors, D, N), D, parents);
    expect(got).toHaveLength(N);
    for (const [turn, value] of expected.entries()) expect(got[turn]).toBeCloseTo(value, 12);
    expect([got[9], got[11], got[17], got[0]]).toEqual([0, expect.closeTo(1, 12), 0, 1]);
    expect(expected.filter((value) => value > 0 && value < 1).length).toBeGreaterThan(N / 4);
  },
);

test('no turns, and one', () => {
  expect(computeHomogeneities(new Float32Array(0), new Float64Array(0), 0, new Int32Array(0))).toHaveLength(0);
  expect([...computeHomogeneities(Float32Array.of(0, 0), Float64Array.of(0), 2, Int32Array.of(-1))]).toEqual([1]);
});

test('squared lengths, and a cosine where their product would vanish', () => {
  expect([...computeSquaredLengths(Float32Array.of(3, 4, 0, 0, 1, -2), 2, 3)]).toEqual([25, 0, 5]);
  const tiny = 2 ** -664; // its square is 0 in float64
  expect(clipCosine(tiny / 2, tiny, tiny)).toBe(0.5);
  expect(clipCosine(5, 4, 4)).toBe(1);
  expect(clipCosine(0, 0, 4)).toBe(0);
});
