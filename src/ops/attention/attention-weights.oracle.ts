import type { RingAttentionOptions } from './options.ts';

/** B queries and T keys as plain rows, each key at a position of its own. */
export interface PlainRows {
  readonly queries: readonly (readonly number[])[];
  readonly keys: readonly (readonly number[])[];
  readonly values: readonly (readonly number[])[];
  readonly queryPositions: readonly number[];
  readonly keyPositions: readonly number[];
  readonly ringSize: number;
  /** [B, T] 0 for keys that are not admissible. */
  readonly mask?: readonly (readonly number[])[];
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, x, d) => sum + x * (b[d] as number), 0);
  return dot === 0 ? 0 : dot / Math.hypot(...a) / Math.hypot(...b);
}

/** The distance on the ring or the line between query i and key j. */
export function countRingSteps({ queryPositions, keyPositions, ringSize }: PlainRows, topology: 'ring' | 'line') {
  return (i: number, j: number): number => {
    const along = Math.abs((queryPositions[i] as number) - (keyPositions[j] as number));
    return topology === 'ring' ? Math.min(along, ringSize - along) : along;
  };
}

/**
 * Attention weights written as their definition, in float64 loops that share nothing with the code that they judge: the oracle of tests.
 *
 * @param distance between query i and key j
 * @returns [B, T]; a row without an admissible key is zero
 */
export function computeReferenceWeights(
  rows: PlainRows,
  distance: (i: number, j: number) => number,
  options: Omit<RingAttentionOptions, 'topology'>,
): number[][] {
  const { direction, combine, self, decay, temperature } = options;
  return rows.queries.map((query, i) => {
    const position = rows.queryPositions[i] as number;
    const powers = rows.keys.map((key, j) => {
      const other = rows.keyPositions[j] as number;
      if (rows.mask?.[i]?.[j] === 0 || (self === 'exclude' && other === position)) return 0;
      if ((direction === 'causal' && other > position) || (direction === 'anticausal' && other < position)) return 0;
      const semantic = (1 + cosine(query, key)) / 2;
      return Math.exp(
        combine === 'multiplicative'
          ? (Math.exp(-decay * distance(i, j)) * semantic) / temperature
          : semantic / temperature - decay * distance(i, j),
      );
    });
    const sum = powers.reduce((a, b) => a + b);
    return powers.map((power) => (sum === 0 ? 0 : power / sum));
  });
}

/** [B, V] of weights [B, T]. */
export function weighValues(weights: readonly (readonly number[])[], { values }: PlainRows): number[][] {
  return weights.map((row) =>
    (values[0] as readonly number[]).map((_, d) =>
      row.reduce((sum, weight, j) => sum + weight * (values[j]?.[d] as number), 0),
    ),
  );
}

/** The largest difference of any two numbers; NaN if one of them is NaN. */
export function findWorstDifference(
  got: readonly (readonly number[])[],
  expected: readonly (readonly number[])[],
): number {
  let worst = 0;
  for (const [i, row] of expected.entries()) {
    for (const [j, value] of row.entries()) {
      const difference = Math.abs((got[i]?.[j] as number) - value);
      if (!(difference <= worst)) worst = difference;
    }
  }
  return worst;
}
