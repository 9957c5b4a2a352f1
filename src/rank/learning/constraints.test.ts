import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CONSTRAINTS, type ConstraintName, EDGE } from './constraints.ts';
import { estimateSlopes, expectClose } from './gradient.oracle.ts';

const FORMULAS: Record<ConstraintName, (theta: number[]) => number[]> = {
  free: (theta) => theta,
  positive: (theta) => theta.map((x) => Math.log(1 + Math.exp(x))),
  unit: (theta) => theta.map((x) => 1 / (1 + Math.exp(-x))),
  simplex: (theta) => theta.map((x) => Math.exp(x) / theta.reduce((sum, y) => sum + Math.exp(y), 0)),
};
const THETA = [-2.3, 0, 0.7, 1.9];

describe.each(Object.entries(FORMULAS))('%s', (name, formula) => {
  const constraint = CONSTRAINTS[name as ConstraintName];

  test('is its formula, and the gradient is pulled back by its slopes', () => {
    const gradient = [0.3, -1.7, 2.9, 0.1];
    expectClose(constraint.apply(Float64Array.from(THETA)), formula(THETA), 1e-12, 1e-12);
    expectClose(
      constraint.pullBack(Float64Array.from(THETA), gradient),
      estimateSlopes(formula, THETA, gradient),
      1e-8,
      1e-8,
    );
  });

  test('what is inverted comes back, and lies in the domain', () => {
    const values = constraint.apply(Float64Array.from(THETA));
    expectClose(constraint.apply(constraint.inverse(values)), values, 1e-12, 1e-12);
    expect([...values].every(constraint.holds)).toBe(true);
    expect([Number.NaN, Number.POSITIVE_INFINITY].some(constraint.holds)).toBe(false);
  });

  test('large numbers stay numbers in the domain', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -1e4, max: 1e4, noNaN: true }), { minLength: 3, maxLength: 3 }),
        (theta) => {
          expect([...constraint.apply(Float64Array.from(theta))].every(constraint.holds)).toBe(true);
        },
      ),
    );
  });
});

test('values on the edge of a domain are moved inside', () => {
  const applyAndInvert = (name: ConstraintName, ...values: number[]) => [
    ...CONSTRAINTS[name].apply(CONSTRAINTS[name].inverse(values)),
  ];
  expectClose(applyAndInvert('positive', 0, 3), [EDGE, 3], 1e-12);
  expectClose(applyAndInvert('unit', 0, 1, 0.4), [EDGE, 1 - EDGE, 0.4], 1e-12);
  expectClose(applyAndInvert('simplex', 0, 1), [EDGE / (1 + EDGE), 1 / (1 + EDGE)], 1e-12);
});

test.each([
  ['positive', -1e-9],
  ['unit', 1.1],
  ['unit', -0.1],
  ['simplex', -0.2],
] as const)('%s does not hold for %d', (name, value) => expect(CONSTRAINTS[name].holds(value)).toBe(false));
