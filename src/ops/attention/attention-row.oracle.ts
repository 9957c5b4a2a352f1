import type { AttentionRows } from './attention-rows.ts';
import type { PropagationOptions, RingAttentionOptions } from './options.ts';

function cosine(queries: Float32Array, i: number, keys: Float32Array, j: number, width: number): number {
  let [dot, square, other] = [0, 0, 0];
  for (let d = 0; d < width; d++) {
    const [a, b] = [queries[i * width + d] as number, keys[j * width + d] as number];
    dot += a * b;
    square += a * a;
    other += b * b;
  }
  return square === 0 || other === 0 ? 0 : dot / Math.sqrt(square) / Math.sqrt(other);
}

/**
 * One row of ring attention written as its definition, in float64 loops that share no code with the implementation: the oracle of tests and benches.
 * O(T D).
 *
 * @param query row of the query, also its position if no positions are given
 * @returns [V]; zeros where no key is admissible
 */
export function computeReferenceRow(rows: AttentionRows, options: RingAttentionOptions, query: number): Float64Array {
  const { turns, queries, keys, values, keyMask, mask } = rows;
  const { topology, direction, combine, self, decay, temperature } = options;
  const [dimension, width] = [keys.length / turns, values.length / turns];
  const i = rows.queryRingPositions === undefined ? query : (rows.queryRingPositions[query] as number);
  const logits = Array.from({ length: turns }, (_, j) => {
    if ((self === 'exclude' && j === i) || (direction === 'causal' && j > i) || (direction === 'anticausal' && j < i))
      return Number.NEGATIVE_INFINITY;
    if (keyMask?.[j] === 0 || mask?.[query * turns + j] === 0) return Number.NEGATIVE_INFINITY;
    const steps = Math.abs(i - j);
    const distance = topology === 'ring' ? Math.min(steps, turns - steps) : steps;
    const semantic = (1 + cosine(queries, query, keys, j, dimension)) / 2;
    return combine === 'multiplicative'
      ? (Math.exp(-decay * distance) * semantic) / temperature
      : semantic / temperature - decay * distance;
  });
  const largest = logits.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const output = new Float64Array(width);
  let mass = 0;
  for (let j = 0; j < turns && largest !== Number.NEGATIVE_INFINITY; j++) {
    const power = Math.exp((logits[j] as number) - largest);
    mass += power;
    for (let d = 0; d < width; d++) output[d] = (output[d] as number) + power * (values[j * width + d] as number);
  }
  return mass === 0 ? output : output.map((value) => value / mass);
}

/**
 * `normalise((1 - beta) e + beta * attention output)` of one turn among all of its conversation, in float64.
 *
 * @param embeddings [T, D]
 * @returns [D]
 */
export function propagateReference(
  embeddings: Float32Array,
  turns: number,
  options: PropagationOptions,
  turn: number,
): Float64Array {
  const rows = { turns, queries: embeddings, keys: embeddings, values: embeddings };
  const output = computeReferenceRow(rows, options, turn);
  const own = turn * output.length;
  const mixed = output.map((value, d) => (1 - options.beta) * (embeddings[own + d] as number) + options.beta * value);
  const norm = Math.hypot(...mixed);
  return norm === 0 ? mixed : mixed.map((value) => value / norm);
}

/** The largest Euclidean distance of the chosen rows of a computed output [T, V] from the exact ones. */
export function findWorstRowError(
  output: Float32Array,
  rows: AttentionRows,
  options: RingAttentionOptions,
  chosen: Iterable<number>,
): number {
  const width = rows.values.length / rows.turns;
  let worst = 0;
  for (const i of chosen) {
    const exact = computeReferenceRow(rows, options, i);
    const error = Math.hypot(...exact.map((value, d) => value - (output[i * width + d] as number)));
    worst = Math.max(worst, error); // NaN comes through
  }
  return worst;
}
