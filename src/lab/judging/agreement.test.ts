import { expect, test } from 'vitest';
import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { cohenKappa } from '../../eval/agreement/cohen-kappa.ts';
import { createQrels } from '../../eval/trec/run-tables.ts';
import { compareJudges, linearWeightedKappa, passesGate, quadraticWeightedKappa } from './agreement.ts';

const FIRST = createQrels({ q1: { a: 3, b: 0, c: 1 }, q2: { a: 2, d: 0 } });

test('figures are of the pairs that both judged, whatever the order of the files', () => {
  const second = createQrels({ q2: { d: 1, a: 2, z: 3 }, q1: { b: 0, a: 3 } });
  const agreement = compareJudges(FIRST, second);
  expect(agreement).toMatchObject({ pairs: 4, onlyFirst: 1, onlySecond: 1, observed: 0.75, means: [5 / 4, 6 / 4] });
  expect(agreement.confusion).toEqual([
    [1, 1, 0, 0],
    [0, 0, 0, 0],
    [0, 0, 1, 0],
    [0, 0, 0, 1],
  ]);
  // expected agreement: grade 0 2/4 x 1/4, grade 2 and 3 1/4 x 1/4 each
  expect(agreement.kappa).toBeCloseTo((0.75 - 4 / 16) / (1 - 4 / 16), 14);
  expect(agreement.quadraticKappa).toBeGreaterThan(agreement.kappa as number);
});

test('the gate opens at a kappa of .6 and above, and never without a kappa', () => {
  const perfect = compareJudges(FIRST, FIRST);
  expect(perfect).toMatchObject({ kappa: 1, linearKappa: 1, quadraticKappa: 1 });
  expect(passesGate({ ...perfect, kappa: 0.6 })).toBe(true);
  expect(passesGate({ ...perfect, kappa: 0.5999 })).toBe(false);
  expect(passesGate({ ...perfect, kappa: 0.5999 }, 0.5)).toBe(true);
  const constant = createQrels({ q1: { a: 1, b: 1 } });
  expect(compareJudges(constant, constant)).toMatchObject({ observed: 1, kappa: null, quadraticKappa: null });
  expect(passesGate(compareJudges(constant, constant))).toBe(false);
  const strangers = compareJudges(FIRST, createQrels({ q3: { a: 1 } }));
  expect(strangers).toMatchObject({ pairs: 0, observed: null, means: null, kappa: null });
  expect(passesGate(strangers)).toBe(false);
});

test('a grade beyond the scale is an error that names the pair', () => {
  const beyond = createQrels({ q1: { a: 4 } });
  expect(() => compareJudges(FIRST, beyond)).toThrow(ValidationError);
  expect(() => compareJudges(FIRST, beyond)).toThrow(/document a for query q1 is not one of 0, 1, 2, 3: 4/);
});

/** Grades of two judges from a table of counts, the first judge's grades in rows. */
function spread(counts: readonly (readonly number[])[]): readonly [number[], number[]] {
  const pairs = counts.flatMap((row, i) => row.flatMap((count, j) => new Array<[number, number]>(count).fill([i, j])));
  return [pairs.map(([i]) => i), pairs.map(([, j]) => j)];
}

/** The definition over every pair of items: expected disagreement is that of any item of a with any item of b. */
function computeByPairs(a: readonly number[], b: readonly number[], weigh: (i: number, j: number) => number): number {
  const observed = a.map((grade, item) => weigh(grade, b[item] as number));
  const expected = a.flatMap((i) => b.map((j) => weigh(i, j)));
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return 1 - mean(observed) / mean(expected);
}

test('a worked example: disagreements of one grade count less than those of two', () => {
  // each judge gives grade 0 four times, 1 and 2 three times
  const [a, b] = spread([
    [3, 1, 0],
    [0, 2, 1],
    [1, 0, 2],
  ]);
  const linearExpected = (4 * 3 * 1 + 4 * 3 * 2 + 3 * 4 * 1 + 3 * 3 * 1 + 3 * 4 * 2 + 3 * 3 * 1) / 10;
  const squaredExpected = (4 * 3 * 1 + 4 * 3 * 4 + 3 * 4 * 1 + 3 * 3 * 1 + 3 * 4 * 4 + 3 * 3 * 1) / 10;
  expect(linearWeightedKappa(a, b)).toBeCloseTo(1 - (1 + 1 + 2) / linearExpected, 14);
  expect(quadraticWeightedKappa(a, b)).toBeCloseTo(1 - (1 + 1 + 4) / squaredExpected, 14);
});

test('equals the definition over all pairs of items', () => {
  const random = createRandom(7, 'weighted-kappa');
  const a = Array.from({ length: 53 }, () => random.integer(4));
  const b = a.map((grade) => (random.uniform() < 0.6 ? grade : random.integer(4)));
  expect(linearWeightedKappa(a, b)).toBeCloseTo(
    computeByPairs(a, b, (i, j) => Math.abs(i - j)),
    12,
  );
  expect(quadraticWeightedKappa(a, b)).toBeCloseTo(
    computeByPairs(a, b, (i, j) => (i - j) ** 2),
    12,
  );
  expect(quadraticWeightedKappa(a, b)).not.toBeCloseTo(linearWeightedKappa(a, b), 2);
});

test('equals plain kappa with two grades, 1 for full and -1 for reversed agreement', () => {
  const [a, b] = spread([
    [20, 5],
    [10, 15],
  ]);
  expect(linearWeightedKappa(a, b)).toBeCloseTo(cohenKappa(a, b), 14);
  expect(quadraticWeightedKappa(a, b)).toBeCloseTo(cohenKappa(a, b), 14);
  expect(quadraticWeightedKappa([0, 1, 2, 3], [0, 1, 2, 3])).toBe(1);
  expect(quadraticWeightedKappa([0, 3], [3, 0])).toBe(-1);
});

test.each([linearWeightedKappa, quadraticWeightedKappa])('refuses grades for which it is undefined', (kappa) => {
  expect(() => kappa([1, 2], [1])).toThrow(DimensionMismatchError);
  expect(() => kappa([], [])).toThrow(ValidationError);
  expect(() => kappa([2, 2], [2, 2])).toThrow(
    /^the judges of weighted kappa use 1 different grades; pass grades with at least 2$/,
  );
});
