import * as tf from '@tensorflow/tfjs-core';
import { ValidationError } from '../../core/errors/errors.ts';
import { ensureBackend, prefersPlainProducts } from '../../core/tensors/backend.ts';
import { matmul } from '../../core/tensors/matmul.ts';
import { readBack } from '../../core/tensors/scope.ts';
import { letEventsIn } from '../../core/terminal/progress.ts';
import { computeByteMaxima, type TokenBytes } from './token-maxima.ts';

/** The vectors of the tokens of N turns, one turn after the other. */
export interface TokenRows {
  /** Row-major [S, D], rows of length 1, or of any length with `scales`, which rows of 8 bits have. */
  readonly vectors: Float32Array | Int8Array;
  /** [S] not negative: the vector of a token is its row times its scale; 1 without them. */
  readonly scales?: Float32Array;
  /** [N + 1] the first token of each turn, and S. */
  readonly starts: Int32Array;
  /** D. */
  readonly dimension: number;
}

const areBytes = (turns: TokenRows): turns is TokenRows & TokenBytes =>
  turns.vectors instanceof Int8Array && turns.scales !== undefined;

/**
 * The largest product of each token of a question with a token of each turn, m in the formulas below. One product of
 * matrices for all turns, O(S T D), and a maximum by segment; rows of 8 bits by {@link computeByteMaxima} where tensors
 * are in the memory of the host. Khattab, Zaharia 2020, "ColBERT".
 *
 * @param turns those that the question may see.
 * @param question row-major [T, D], rows of length 1.
 * @returns row-major [N, T]; NaN for a turn without a token.
 * @throws ValidationError for a question without a token, or one of another dimension.
 */
export async function computeTokenMaxima(turns: TokenRows, question: Float32Array): Promise<Float32Array> {
  const { vectors, scales, starts, dimension } = turns;
  const count = question.length / dimension;
  if (!Number.isInteger(count) || count === 0)
    throw new ValidationError(
      `token vectors of a question have ${question.length} numbers: expected some rows of ${dimension}; encode it as the turns`,
    );
  await ensureBackend();
  if (areBytes(turns) && prefersPlainProducts()) {
    await letEventsIn();
    return computeByteMaxima(turns, question);
  }
  const size = vectors.length / dimension;
  const maxima = new Float32Array((starts.length - 1) * count).fill(Number.NaN);
  if (size === 0) return maxima;
  const products = await readBack('tokenProducts', () =>
    matmul(
      tf.tensor2d(vectors instanceof Int8Array ? Float32Array.from(vectors) : vectors, [size, dimension]),
      tf.transpose(tf.tensor2d(question, [count, dimension])),
    ),
  ); // [S, T]
  for (let turn = 0; turn + 1 < starts.length; turn++)
    for (let token = starts[turn] as number; token < (starts[turn + 1] as number); token++) {
      const scale = scales === undefined ? 1 : (scales[token] as number);
      for (let t = 0; t < count; t++) {
        const product = scale * (products[token * count + t] as number);
        const at = turn * count + t;
        if (!(product <= (maxima[at] as number))) maxima[at] = product;
      }
    }
  return maxima;
}

/** Deviations below this share of the mean are float32 rounding of equal products. */
const EQUAL = 1e-5;

/**
 * Maxima as deviations from their mean over the turns that have tokens, in units of their deviation; 0 where all are
 * equal up to rounding. A token that fits every turn says nothing.
 *
 * @param maxima row-major [N, T], as {@link computeTokenMaxima} gives them.
 * @returns row-major [N, T]
 */
export function standardiseMaxima(maxima: Float32Array, count: number): Float64Array {
  const means = new Float64Array(count);
  const factors = new Float64Array(count);
  const found = new Int32Array(count);
  const standardised = Float64Array.from(maxima);
  // Row by row, as the numbers lie in memory.
  for (let at = 0; at < maxima.length; at += count)
    for (let t = 0; t < count; t++) {
      const value = maxima[at + t] as number;
      if (Number.isNaN(value)) continue;
      means[t]! += value;
      found[t]! += 1;
    }
  for (let t = 0; t < count; t++) means[t]! /= found[t] as number;
  for (let at = 0; at < maxima.length; at += count)
    for (let t = 0; t < count; t++) {
      const value = maxima[at + t] as number;
      if (!Number.isNaN(value)) factors[t]! += (value - (means[t] as number)) ** 2;
    }
  for (let t = 0; t < count; t++) {
    const deviation = Math.sqrt((factors[t] as number) / (found[t] as number));
    factors[t] = deviation > EQUAL * Math.abs(means[t] as number) ? 1 / deviation : 0;
  }
  for (let at = 0; at < maxima.length; at += count)
    for (let t = 0; t < count; t++)
      standardised[at + t] = ((standardised[at + t] as number) - (means[t] as number)) * (factors[t] as number);
  return standardised;
}

/**
 * The mean over the tokens of a question: `maxsim` of maxima, `standardised` of standardised ones, and with the
 * inverse document frequencies of the tokens `zidf`.
 *
 * @param values row-major [N, T]
 * @param weights [T], not negative; without them every token counts alike.
 * @returns [N]; NaN for a turn without a token, and 0 for the others where no token counts.
 */
export function averageTokens(values: ArrayLike<number>, count: number, weights?: ArrayLike<number>): Float64Array {
  const averages = new Float64Array(values.length / count);
  let total = 0;
  for (let t = 0; t < count; t++) total += weights?.[t] ?? 1;
  for (let turn = 0; turn < averages.length; turn++) {
    let sum = 0;
    for (let t = 0; t < count; t++) sum += (weights?.[t] ?? 1) * (values[turn * count + t] as number);
    averages[turn] = total === 0 ? sum : sum / total;
  }
  return averages;
}

/**
 * The place of each turn among all by its maximum for a token, from 1 for the best down to 0 for the last:
 * `1 - ln r / ln n` for rank r of n turns that have tokens, equal maxima at the rank of the first of them; 1 for a
 * single turn.
 *
 * @param maxima row-major [N, T], as {@link computeTokenMaxima} gives them.
 * @returns row-major [N, T]; NaN for a turn without a token.
 */
export function rankTokens(maxima: Float32Array, count: number): Float64Array {
  const ranked = new Float64Array(maxima.length).fill(Number.NaN);
  for (let t = 0; t < count; t++) {
    const column = Float32Array.from(
      { length: maxima.length / count },
      (_, turn) => maxima[turn * count + t] as number,
    );
    const sorted = column.filter((value) => !Number.isNaN(value)).sort();
    const scale = sorted.length > 1 ? 1 / Math.log(sorted.length) : 0;
    for (let turn = 0; turn < column.length; turn++) {
      const value = column[turn] as number;
      if (!Number.isNaN(value))
        ranked[turn * count + t] = 1 - scale * Math.log(sorted.length + 1 - countAtMost(sorted, value));
    }
  }
  return ranked;
}

/** Counts the sorted numbers that are at most a value. */
function countAtMost(sorted: Float32Array, value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The mean over tokens of max(0, z)^2: few tokens that fit one turn very well count more than many that fit a little.
 *
 * @param standardised row-major [N, T], as {@link standardiseMaxima} gives them.
 * @returns [N]; NaN for a turn without a token.
 */
export function focusTokens(standardised: Float64Array, count: number): Float64Array {
  return averageTokens(
    standardised.map((z) => (Number.isNaN(z) ? z : Math.max(0, z) ** 2)),
    count,
  );
}

/**
 * The largest score of a turn and its neighbours, as far as these are seen.
 *
 * @param scores [N]; NaN for a turn without a token, which has those of its neighbours.
 * @param neighbours of each turn, the turn itself left out.
 * @returns [N]; NaN where neither the turn nor a neighbour has a score.
 */
export function takeNearest(scores: Float64Array, neighbours: (turn: number) => readonly number[]): Float64Array {
  return scores.map((own, turn) =>
    neighbours(turn).reduce((most, other) => {
      const score = scores[other] ?? Number.NaN;
      return Number.isNaN(most) || score > most ? score : most;
    }, own),
  );
}
