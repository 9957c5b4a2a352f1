import { expect, test } from 'vitest';
import { MERGE_PRESETS, weightedMerge, weightedMergeOptions } from './weighted-merge.ts';

const NONE = Number.NaN;
const columns = [Float64Array.of(1, NONE, 0.5), Float64Array.of(NONE, 1, 0.25)];
const merge = (weights: keyof typeof MERGE_PRESETS | number[]) => [
  ...weightedMerge(columns, { method: 'weighted', weights }),
];

test('multiplies each score by the weight of its source', () => {
  expect(merge('balanced')).toEqual([0.5, 0.5, 0.375]);
  expect(merge('rag-focused')).toEqual([0.7, 0.3, 0.7 * 0.5 + 0.3 * 0.25]);
  expect(merge('memory-focused')).toEqual([0.4, 0.6, 0.4 * 0.5 + 0.6 * 0.25]);
  expect(merge([0.25, 0.75])).toEqual([0.25, 0.75, 0.3125]);
});

test('weights sum to 1 within 0.01', () => {
  expect(merge([0.4, 0.61])).toEqual([0.4, 0.61, 0.4 * 0.5 + 0.61 * 0.25]);
  expect(merge([0.4, 0.59])[1]).toBe(0.59);
  expect(() => merge([0.4, 0.62])).toThrow('weights of a merge must sum to 1 within 0.01: 0.4, 0.62');
  expect(() => merge([1])).toThrow('fusion of 2 sources needs as many weights, got 1: 1');
});

test('options default to the preset that favours memory', () => {
  expect(weightedMergeOptions.parse({ method: 'weighted' }).weights).toBe('memory-focused');
  expect(weightedMergeOptions.parse({ method: 'weighted', weights: [0.2, 0.3, 0.5] }).weights).toHaveLength(3);
  for (const weights of ['even', [0.5, 0.6], [1.5, -0.5], []])
    expect(weightedMergeOptions.safeParse({ method: 'weighted', weights }).success).toBe(false);
  for (const weights of Object.values(MERGE_PRESETS)) expect(weights[0] + weights[1]).toBe(1);
});
