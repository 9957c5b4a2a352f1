import { CholeskyDecomposition, Matrix } from 'ml-matrix';
import { NotFiniteError } from '../../core/errors/errors.ts';
import { createEventBreaks } from '../../core/terminal/progress.ts';

/** Newton steps stop once the next would lower the loss by about half of this. */
const PRECISION = 1e-8;
const MOST_STEPS = 50;
const MOST_HALVINGS = 40;

/** Rows of Q queries, N in total, with F signals. */
export interface ListwiseRows {
  /** [Q + 1] the first row of each query, and the end of the last. */
  readonly starts: Int32Array;
  /** [F, N] standardised signals. */
  readonly columns: readonly Float32Array[];
  /** [N] of a sum of 1 for each query, such as grade / sum of its grades. */
  readonly targets: Float64Array;
  /** [N] ln of the number of candidates that a row counts for. */
  readonly offsets: Float64Array;
  /** [F] true for a weight that must not be below 0. */
  readonly bounded: readonly boolean[];
}

/** Weights of chosen signals, with the loss and the predictions at them. */
export interface ListwisePoint {
  /** [K] positions of the chosen signals. */
  readonly chosen: readonly number[];
  /** [K] */
  readonly weights: Float64Array;
  /** [N] softmax of the scores of each query. */
  readonly shares: Float64Array;
  /** Mean over the queries of the listwise loss. */
  readonly loss: number;
  /** The same with the penalty `l2 sum_k w_k^2`. */
  readonly penalised: number;
}

/** The loss `ln sum_r e^(s_r + o_r) - sum_r t_r (s_r + o_r)` of each query at some weights. O(N K). */
export function computeListwiseLoss(
  rows: ListwiseRows,
  chosen: readonly number[],
  weights: Float64Array,
  l2: number,
): ListwisePoint {
  const { starts, columns, targets, offsets } = rows;
  const scores = offsets.slice();
  for (const [k, f] of chosen.entries()) {
    const column = columns[f] as Float32Array;
    const weight = weights[k] as number;
    for (let row = 0; row < scores.length; row++) scores[row]! += weight * column[row]!;
  }
  let sum = 0;
  for (let q = 0; q + 1 < starts.length; q++) {
    const [start, end] = [starts[q] as number, starts[q + 1] as number];
    let most = Number.NEGATIVE_INFINITY;
    for (let row = start; row < end; row++) most = Math.max(most, scores[row]!);
    let total = 0;
    let matched = 0;
    for (let row = start; row < end; row++) {
      matched += targets[row]! * scores[row]!;
      scores[row] = Math.exp(scores[row]! - most);
      total += scores[row]!;
    }
    for (let row = start; row < end; row++) scores[row]! /= total;
    sum += most + Math.log(total) - matched;
  }
  const loss = sum / (starts.length - 1);
  return {
    ...{ chosen, weights, shares: scores, loss },
    penalised: loss + l2 * weights.reduce((total, w) => total + w * w, 0),
  };
}

/** First and second derivative of the loss by the weight of a signal at a point. O(N). */
export function computeDerivatives(rows: ListwiseRows, { shares }: Pick<ListwisePoint, 'shares'>, signal: number) {
  const { starts, targets } = rows;
  const column = rows.columns[signal] as Float32Array;
  let gradient = 0;
  let curvature = 0;
  for (let q = 0; q + 1 < starts.length; q++) {
    let mean = 0;
    let square = 0;
    let target = 0;
    const end = starts[q + 1] as number;
    for (let row = starts[q] as number; row < end; row++) {
      const z = column[row] as number;
      const part = (shares[row] as number) * z;
      mean += part;
      square += part * z;
      target += (targets[row] as number) * z;
    }
    gradient += mean - target;
    curvature += square - mean * mean;
  }
  const queries = starts.length - 1;
  return { gradient: gradient / queries, curvature: curvature / queries };
}

/** [K, K] the second derivatives by the weights of chosen signals. N K^2 / 2 multiplications. */
export function computeHessian({ starts, columns }: ListwiseRows, { chosen, shares }: ListwisePoint): number[][] {
  const queries = starts.length - 1;
  const K = chosen.length;
  const means = chosen.map(() => new Float64Array(queries)); // [K, Q]
  const hessian = Array.from({ length: K }, () => new Array<number>(K).fill(0));
  const weighted = new Float64Array(shares.length);
  for (let i = 0; i < K; i++) {
    const column = columns[chosen[i] as number] as Float32Array;
    const own = means[i] as Float64Array;
    for (let q = 0; q < queries; q++)
      for (let row = starts[q]!, end = starts[q + 1]!; row < end; row++) {
        weighted[row] = shares[row]! * column[row]!;
        own[q]! += weighted[row]!;
      }
    for (let j = 0; j <= i; j++) {
      const products = multiply(weighted, columns[chosen[j] as number] as Float32Array);
      const value = (products - multiply(own, means[j] as Float64Array)) / queries;
      hessian[i]![j] = value;
      hessian[j]![i] = value;
    }
  }
  return hessian;
}

/** Sum of products, in four sums that a processor adds to at once. */
function multiply(a: Float64Array, b: Float64Array | Float32Array): number {
  let [s0, s1, s2, s3] = [0, 0, 0, 0];
  const even = a.length - (a.length % 4);
  for (let i = 0; i < even; i += 4) {
    s0 += a[i]! * b[i]!;
    s1 += a[i + 1]! * b[i + 1]!;
    s2 += a[i + 2]! * b[i + 2]!;
    s3 += a[i + 3]! * b[i + 3]!;
  }
  for (let i = even; i < a.length; i++) s0 += a[i]! * b[i]!;
  return s0 + s1 + (s2 + s3);
}

/** The Newton step of the weights that may move: those at their bound that would leave it stay. */
function computeNewtonStep(rows: ListwiseRows, at: ListwisePoint, l2: number) {
  const { chosen, weights } = at;
  const gradient = Float64Array.from(chosen, (f, k) => computeDerivatives(rows, at, f).gradient + 2 * l2 * weights[k]!);
  const moving = [...chosen.keys()].filter((k) => !(rows.bounded[chosen[k]!] && weights[k] === 0 && gradient[k]! >= 0));
  const step = new Float64Array(chosen.length);
  if (moving.length === 0) return { step, decrement: 0 };
  const full = computeHessian(rows, at);
  const hessian = moving.map((i) => moving.map((j) => full[i]![j]! + (i === j ? 2 * l2 : 0)));
  const slopes = Matrix.columnVector(moving.map((k) => gradient[k]!));
  const solved = new CholeskyDecomposition(new Matrix(hessian)).solve(slopes).to1DArray();
  for (const [m, k] of moving.entries()) step[k] = solved[m]!;
  return { step, decrement: moving.reduce((sum, k) => sum + gradient[k]! * step[k]!, 0) };
}

/**
 * The weights of the least penalised loss, by Newton steps from some weights. Each step is halved until the loss falls,
 * since whole steps from 0 diverge. A weight that must not be below 0 stays at 0 while it would be (Bertsekas 1982).
 *
 * @throws NotFiniteError for a loss that is no number
 */
export async function minimiseLoss(rows: ListwiseRows, from: ListwisePoint, l2: number): Promise<ListwisePoint> {
  const pause = createEventBreaks();
  let at = from;
  for (let n = 0; n < MOST_STEPS; n++) {
    if (!Number.isFinite(at.penalised))
      throw new NotFiniteError('listwise loss', `weights ${[...at.weights]}`, at.penalised);
    const { step, decrement } = computeNewtonStep(rows, at, l2);
    await pause();
    const next = takeStep(rows, at, step, l2);
    if (next === null) return at;
    at = next;
    if (decrement < PRECISION) return at;
  }
  return at;
}

function takeStep(rows: ListwiseRows, at: ListwisePoint, step: Float64Array, l2: number): ListwisePoint | null {
  for (let halving = 0, share = 1; halving < MOST_HALVINGS; halving++, share /= 2) {
    const weights = at.weights.map((weight, k) => {
      const moved = weight - share * step[k]!;
      return rows.bounded[at.chosen[k]!] ? Math.max(0, moved) : moved;
    });
    const next = computeListwiseLoss(rows, at.chosen, weights, l2);
    if (next.penalised < at.penalised) return next;
  }
  return null;
}
