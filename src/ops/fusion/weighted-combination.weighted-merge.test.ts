import { expect, test } from 'vitest';
import { MERGE_PRESETS, weightedMerge, weightedMergeOptions } from './weighted-combination.ts';

const NONE = Number.NaN;
const columns = { documents: Float64Array.of(1, NONE, 0.5), memory: Float64Array.of(NONE, 1, 0.25) };
const merge = (weights: keyof typeof MERGE_PRESETS | Record<string, number>) => [
  ...weightedMerge(columns, { method: 'weighted', weights }),
];

test('multiplies each score by the weight of its source', () => {
  expect(merge('balanced')).toEqual([0.5, 0.5, 0.375]);
  expect(merge('rag-focused')).toEqual([0.7, 0.3, 0.7 * 0.5 + 0.3 * 0.25]);
  expect(merge('memory-focused')).toEqual([0.4, 0.6, 0.4 * 0.5 + 0.6 * 0.25]);
  expect(merge({ memory: 0.75, documents: 0.25 })).toEqual([0.25, 0.75, 0.3125]);
});

test('weights sum to 1 within 0.01', () => {
  expect(merge({ documents: 0.4, memory: 0.61 })).toEqual([0.4, 0.61, 0.4 * 0.5 + 0.61 * 0.25]);
  expect(merge({ documents: 0.4, memory: 0.59 })[1]).toBe(0.59);
  expect(() => merge({ documents: 0.4, memory: 0.62 })).toThrow(
    'weights of a merge do not sum to 1 within 0.01: 0.4, 0.62',
  );
  expect(() => merge({ memory: 1 })).toThrow('merge has no weight for source: documents');
  expect(() => merge({ documents: 0.5, memor: 0.5 })).toThrow('weight of an unknown source: memor; use memory');
  const three = { ...columns, more: columns.memory };
  expect(() => weightedMerge(three, { method: 'weighted', weights: 'balanced' })).toThrow(
    'preset balanced of a merge is for 2 sources: documents, memory, more',
  );
});

test('options default to the preset that favours memory', () => {
  expect(weightedMergeOptions.parse({ method: 'weighted' }).weights).toBe('memory-focused');
  expect(weightedMergeOptions.parse({ method: 'weighted', weights: { a: 0.2, b: 0.3, c: 0.5 } }).weights).toEqual({
    a: 0.2,
    b: 0.3,
    c: 0.5,
  });
  for (const weights of ['even', { a: 0.5, b: 0.6 }, { a: 1.5, b: -0.5 }, {}, [0.5, 0.5]])
    expect(weightedMergeOptions.safeParse({ method: 'weighted', weights }).success).toBe(false);
  for (const weights of Object.values(MERGE_PRESETS)) expect(weights[0] + weights[1]).toBe(1);
});
