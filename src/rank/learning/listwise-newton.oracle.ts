/** A query of the loss: the signals of its rows, and what they count for. */
export interface PlainQuery {
  readonly signals: readonly (readonly number[])[];
  readonly targets: readonly number[];
  readonly offsets: readonly number[];
}

/** `mean_q (ln sum_r e^(w z_r + o_r) - sum_r t_r (w z_r + o_r)) + l2 sum_f w_f^2`, in plain loops. */
export function computePlainLoss(queries: readonly PlainQuery[], weights: readonly number[], l2: number): number {
  const losses = queries.map(({ signals, targets, offsets }) => {
    const scores = signals.map((row, r) => row.reduce((sum, z, f) => sum + z * weights[f]!, offsets[r]!));
    const logSum = Math.log(scores.reduce((sum, score) => sum + Math.exp(score), 0));
    return logSum - scores.reduce((sum, score, r) => sum + targets[r]! * score, 0);
  });
  return losses.reduce((sum, loss) => sum + loss, 0) / queries.length + l2 * weights.reduce((sum, w) => sum + w * w, 0);
}

const STEP = 1e-4;

/** First and second central difference of a function of one number. */
export function estimateDerivatives(f: (x: number) => number, x: number) {
  const [below, at, above] = [f(x - STEP), f(x), f(x + STEP)];
  return { gradient: (above - below) / (2 * STEP), curvature: (above - 2 * at + below) / STEP ** 2 };
}

/** The weights of the least loss, at least 0 where asked, by many small steps against central differences. */
export function descend(
  f: (weights: readonly number[]) => number,
  start: readonly number[],
  bounded: readonly boolean[],
  { rate, steps }: { readonly rate: number; readonly steps: number },
): number[] {
  let weights = [...start];
  for (let n = 0; n < steps; n++) {
    const slopes = weights.map((weight, k) => estimateDerivatives((x) => f(weights.with(k, x)), weight).gradient);
    weights = weights.map((weight, k) => {
      const moved = weight - rate * slopes[k]!;
      return bounded[k] ? Math.max(0, moved) : moved;
    });
  }
  return weights;
}
