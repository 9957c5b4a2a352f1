import * as tf from '@tensorflow/tfjs-core';
import { createRandom } from '../../core/numbers/random.ts';
import { computeSimilarities, type SelectionInputs } from './selection.ts';

const [B, D] = [3, 3];

/** C */
export const CANDIDATES = 13;

/** The cosine from which two candidates are near copies. */
export const THRESHOLD = 0.85;

const random = createRandom(8, 'distinct.test');
const vectors = Array.from({ length: B }, () =>
  Array.from({ length: CANDIDATES }, () => Array.from({ length: D }, () => random.drawNormal())),
);
const scores = vectors.map((rows) => rows.map(() => random.uniform()));
const isPresent = scores.map((row) => row.map((_, i) => i !== 4));

function cosine(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] as number), 0) / Math.hypot(...a) / Math.hypot(...b);
}

/** The places of a query's candidates that are no near copies of better ones, ascending, by a loop over them. */
function listDistinct(query: number): number[] {
  const [rows, row] = [vectors[query] as number[][], scores[query] as number[]];
  const kept: number[] = [];
  for (const i of [...row.keys()].sort((a, b) => (row[b] as number) - (row[a] as number))) {
    if (!isPresent[query]?.[i]) continue;
    if (kept.every((j) => cosine(rows[i] as number[], rows[j] as number[]) < THRESHOLD)) kept.push(i);
  }
  return kept.sort((a, b) => a - b);
}

/** Inputs of selections among these candidates; the caller disposes them. */
export const buildInputs = (): SelectionInputs => ({
  relevance: tf.tensor2d(scores),
  similarities: computeSimilarities(tf.tensor3d(vectors)),
  mask: tf.tensor2d(
    isPresent.map((row) => row.map(Number)),
    [B, CANDIDATES],
    'bool',
  ),
});

/** Places of the candidates that are no near copies of better ones, of each query, ascending. */
export const DISTINCT_PLACES: readonly (readonly number[])[] = vectors.map((_, query) => listDistinct(query));
