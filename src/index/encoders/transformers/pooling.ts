import { freezeDeeply } from '../../../core/values/frozen.ts';

/** Ways of making one vector of the vectors of tokens. */
export const POOLING_MODES = freezeDeeply([
  'mean',
  'cls',
  'max',
  'lasttoken',
  'weightedmean',
  'mean-sqrt-length',
] as const);
/** How the vectors of tokens become one vector of the text. */
export type PoolingMode = (typeof POOLING_MODES)[number];

/**
 * One vector of the vectors of a text's tokens, in float64 sums, not scaled.
 *
 * `mean` = sum / T; `mean-sqrt-length` = sum / sqrt(T); `weightedmean` weighs token t = 1..T by t; `max` takes the
 * largest value of each component; `cls` the first token, `lasttoken` the last.
 *
 * Reimers, Gurevych 2019, "Sentence-BERT"; Muennighoff 2022, "SGPT", for the weighted mean.
 *
 * @param tokens row-major [T, D], T at least 1
 * @returns [D]
 */
export function poolTokens(tokens: Float32Array, dimension: number, mode: PoolingMode): Float32Array {
  const count = tokens.length / dimension;
  if (mode === 'cls') return tokens.slice(0, dimension);
  if (mode === 'lasttoken') return tokens.slice(tokens.length - dimension);
  const sums = new Float64Array(dimension).fill(mode === 'max' ? Number.NEGATIVE_INFINITY : 0);
  for (let t = 0, at = 0; t < count; t++) {
    const weight = mode === 'weightedmean' ? t + 1 : 1;
    for (let d = 0; d < dimension; d++, at++) {
      const value = tokens[at] as number;
      sums[d] = mode === 'max' ? Math.max(sums[d] as number, value) : (sums[d] as number) + weight * value;
    }
  }
  const divisor = {
    mean: count,
    max: 1,
    weightedmean: (count * (count + 1)) / 2,
    'mean-sqrt-length': Math.sqrt(count),
  };
  return Float32Array.from(sums, (sum) => sum / divisor[mode]);
}
