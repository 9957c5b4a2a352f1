import { describe, expect, test } from 'vitest';
import { computePlainLoss, descend, estimateDerivatives } from './listwise-newton.oracle.ts';
import {
  computeDerivatives,
  computeHessian,
  computeListwiseLoss,
  type ListwiseRows,
  minimiseLoss,
} from './listwise-newton.ts';
import { drawListwiseRows } from './listwise-rows.fixture.ts';

describe('the loss and its derivatives', () => {
  const { rows, queries } = drawListwiseRows();
  const weights = [0.7, -0.4, 0.2, 0];
  const at = computeListwiseLoss(rows, [0, 1, 2, 3], Float64Array.from(weights), 0.05);

  test('are those of plain loops and finite differences', () => {
    expect(at.loss).toBeCloseTo(computePlainLoss(queries, weights, 0), 12);
    expect(at.penalised).toBeCloseTo(computePlainLoss(queries, weights, 0.05), 12);
    for (const f of weights.keys()) {
      const expected = estimateDerivatives((x) => computePlainLoss(queries, weights.with(f, x), 0), weights[f]!);
      const { gradient, curvature } = computeDerivatives(rows, at, f);
      expect(gradient).toBeCloseTo(expected.gradient, 7);
      expect(curvature).toBeCloseTo(expected.curvature, 5);
    }
  });

  test('mixed ones are differences of gradients', () => {
    const hessian = computeHessian(rows, at);
    const readSlope = (moved: readonly number[], f: number) =>
      computeDerivatives(rows, computeListwiseLoss(rows, at.chosen, Float64Array.from(moved), 0), f).gradient;
    for (const i of weights.keys())
      for (const j of weights.keys()) {
        const { gradient } = estimateDerivatives((x) => readSlope(weights.with(j, x), i), weights[j]!);
        expect(hessian[i]![j]).toBeCloseTo(gradient, 7);
      }
  });
});

describe('Newton steps', () => {
  const start = (rows: ListwiseRows) => computeListwiseLoss(rows, [0, 1, 2, 3], new Float64Array(4), 0.01);

  test('reach the weights that gradient descent reaches', async () => {
    const { rows, queries } = drawListwiseRows();
    const { weights } = await minimiseLoss(rows, start(rows), 0.01);
    const plain = (given: readonly number[]) => computePlainLoss(queries, given, 0.01);
    const expected = descend(plain, [0, 0, 0, 0], rows.bounded, { rate: 0.5, steps: 800 });
    for (const [k, weight] of weights.entries()) expect(Math.abs(weight - expected[k]!)).toBeLessThan(1e-6);
  });

  test('keep a weight at 0 that must not be below', async () => {
    const unbounded = drawListwiseRows();
    const { weights: free } = await minimiseLoss(unbounded.rows, start(unbounded.rows), 0.01);
    const bounded = Array.from(free, (weight) => weight < 0);
    expect(bounded).toContain(true);
    expect(bounded).toContain(false);
    const { rows, queries } = drawListwiseRows(bounded);
    const plain = (given: readonly number[]) => computePlainLoss(queries, given, 0.01);
    const expected = descend(plain, [0, 0, 0, 0], bounded, { rate: 0.5, steps: 800 });
    const { weights } = await minimiseLoss(rows, start(rows), 0.01);
    for (const [k, weight] of weights.entries()) expect(Math.abs(weight - expected[k]!)).toBeLessThan(1e-6);
  });
});
