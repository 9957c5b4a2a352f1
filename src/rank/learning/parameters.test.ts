import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { estimateSlopes, expectClose } from './gradient.oracle.ts';
import {
  assertValues,
  CONSTRAINTS,
  type ConstraintName,
  chooseParameterValues,
  constrainValues,
  countParameters,
  EDGE,
  freeValues,
  nameParameterValues,
  type Parametric,
  pullBackGradient,
} from './parameters.ts';

const model: Parametric = {
  parameters: [
    { name: 'weights', labels: ['a', 'b'], constraint: 'free', initial: [0.5, -2], uniform: [1, 1], range: [-1, 1] },
    { name: 'rate', labels: ['rate'], constraint: 'positive', initial: [0.3], uniform: [1], range: [0.1, 1] },
    {
      name: 'mix',
      labels: ['x', 'y', 'z'],
      constraint: 'simplex',
      initial: [0.4, 0.4, 0.2],
      uniform: [1 / 3, 1 / 3, 1 / 3],
      range: [0, 1],
    },
  ],
};
const initial = chooseParameterValues(model, (spec) => spec.initial);

test('parameters stand one after the other, by their names', () => {
  expect(countParameters(model)).toBe(6);
  expect([...initial]).toEqual([0.5, -2, 0.3, 0.4, 0.4, 0.2]);
  expect(nameParameterValues(model, initial)).toEqual({
    weights: { a: 0.5, b: -2 },
    rate: { rate: 0.3 },
    mix: { x: 0.4, y: 0.4, z: 0.2 },
  });
});

test('free numbers stand for values and back, each parameter in its own domain', () => {
  const theta = freeValues(model, initial);
  expect(theta[1]).toBe(-2);
  expect(theta[2]).toBeCloseTo(Math.log(Math.exp(0.3) - 1), 12);
  expectClose(constrainValues(model, theta), initial, 1e-12);
});

test('a gradient is pulled back through all of them', () => {
  const theta = [0.7, -1.1, 0.4, 1.3, -0.2, 0.9];
  const gradient = [2, -3, 5, -7, 11, -13];
  const slopes = estimateSlopes((x) => [...constrainValues(model, Float64Array.from(x))], theta, gradient);
  expectClose(pullBackGradient(model, Float64Array.from(theta), Float64Array.from(gradient)), slopes, 1e-7);
});

test.each([
  [[1, 2, 3], 'parameter values: expected 6, got 3'],
  [[1, Number.NaN, 1, 0.5, 0.5, 0], 'parameter weights of b is not free: NaN; pass a value within its constraint'],
  [[1, 1, -1, 0.5, 0.5, 0], 'parameter rate of rate is not positive: -1; pass a value within its constraint'],
  [[1, 1, 1, 0.5, 0.5, 0.5], 'parameter mix does not sum to 1: 0.5, 0.5, 0.5; scale its shares'],
])('%j are no values', (values, message) => {
  expect(() => assertValues(model, Float64Array.from(values))).toThrow(message);
});

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
