import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../core/backend.ts';
import { TEST_BACKENDS } from '../core/backends.harness.ts';
import { createRandom } from '../core/random.ts';
import { markDistinct } from './distinct.ts';
import { loadSelection, selectionOptions } from './registry.ts';
import { computeSimilarities } from './selection.ts';

const [B, C, D, THRESHOLD] = [3, 13, 3, 0.85];
const random = createRandom(8, 'distinct.test');
const vectors = Array.from({ length: B }, () =>
  Array.from({ length: C }, () => Array.from({ length: D }, () => random.drawNormal())),
);
const scores = vectors.map((rows) => rows.map(() => random.uniform()));
const isPresent = scores.map((row) => row.map((_, i) => i !== 4));

function cosine(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] as number), 0) / Math.hypot(...a) / Math.hypot(...b);
}

/** The places that are kept, by a loop over a query's candidates. */
function listDistinct(query: number): number[] {
  const [rows, row] = [vectors[query] as number[][], scores[query] as number[]];
  const kept: number[] = [];
  for (const i of [...row.keys()].sort((a, b) => (row[b] as number) - (row[a] as number))) {
    if (!isPresent[query]?.[i]) continue;
    if (kept.every((j) => cosine(rows[i] as number[], rows[j] as number[]) < THRESHOLD)) kept.push(i);
  }
  return kept;
}

const makeInputs = () => ({
  relevance: tf.tensor2d(scores),
  similarities: computeSimilarities(tf.tensor3d(vectors)),
  mask: tf.tensor2d(
    isPresent.map((row) => row.map(Number)),
    [B, C],
    'bool',
  ),
});

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test('a candidate near a better one is a duplicate', async () => {
    const got = tf.tidy(() => markDistinct(makeInputs(), THRESHOLD));
    const marks = (await got.array()) as unknown as number[][];
    got.dispose();
    const expected = vectors.map((_, query) => listDistinct(query).sort((a, b) => a - b));
    expect(marks.map((row) => [...row.keys()].filter((i) => row[i]))).toEqual(expected);
    expect(expected.some((kept) => kept.length < C - 1)).toBe(true);
  });

  test.each([
    { method: 'mmr', lambda: 0.7 },
    { method: 'diversity-filter', marginalAbove: -1 },
  ])('$method takes no duplicate', async (options) => {
    const select = await loadSelection(selectionOptions.parse({ ...options, duplicateAbove: THRESHOLD }));
    const slots = tf.tidy(() => select(makeInputs(), C).slots);
    const taken = (await slots.array()).map((row) => row.filter((slot) => slot >= 0).sort((a, b) => a - b));
    slots.dispose();
    expect(taken).toEqual(vectors.map((_, query) => listDistinct(query).sort((a, b) => a - b)));
  });
});

test('without the option nothing is a duplicate, and the options are as they were', () => {
  expect(selectionOptions.parse({ method: 'mmr' })).toEqual({ method: 'mmr', k: 50, lambda: 0.7 });
});
