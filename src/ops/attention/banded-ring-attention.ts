import { readsFromCard } from '../../core/tensors/active-backend.ts';
import { displayRowAttention } from './attention-display.ts';
import { type AttentionRows, type CheckedRows, checkRows, type RowAttention } from './attention-rows.ts';
import { buildKeySupport, computeBandError, findLeastBandWidth } from './band.ts';
import { attendDense } from './blockwise-ring-attention.ts';
import type { RingAttentionOptions } from './options.ts';

/** The default error of a row: about the rounding error of float32. */
export const DEFAULT_TOLERANCE = 1e-6;
/** Why {@link attend} and {@link bandedRingAttention} look at every pair then. */
export const PAIRS_MASKED = 'a mask of pairs is looked at pair by pair';

/** Blocks of tensors on a card, else a kernel of WebAssembly on the host: each is loaded at its first use. */
async function computeBandedOutput(
  rows: CheckedRows,
  width: number,
  options: RingAttentionOptions,
): Promise<Float32Array> {
  if (readsFromCard()) return (await import('./tensor-band.ts')).computeTensorBand(rows, width, options);
  return (await import('./host-band.ts')).computeHostBand(rows, width, options);
}

/** The band that rows need for a tolerance, and the error that it leaves. */
interface Band {
  /** W */
  readonly width: number;
  readonly errorBound: number;
}

/** @throws ValidationError for a negative tolerance. */
export function chooseBand(rows: CheckedRows, tolerance: number, options: RingAttentionOptions): Band {
  const support = buildKeySupport(rows, options);
  const width = findLeastBandWidth(rows.turns, tolerance, options, support);
  return { width, errorBound: computeBandError(rows.turns, width, options, support) };
}

/** {@link bandedRingAttention} of rows that have been checked and have no mask of pairs, with 2 W + 1 < T. */
export async function attendBanded(
  rows: CheckedRows,
  { width, errorBound }: Band,
  options: RingAttentionOptions,
): Promise<RowAttention> {
  const output = await computeBandedOutput(rows, width, options);
  const reason = `a band of ${2 * width + 1} among ${rows.turns} turns`;
  return displayRowAttention({ output, method: 'banded', reason, bandWidth: width, errorBound });
}

/**
 * Ring attention of queries over a conversation as a band plus a constant: keys more than W steps away weigh e^0 = 1
 * (multiplicative) or nothing (additive) to within the tolerance, so with m the row's largest logit
 *
 *     numerator_i   = e^-m c Σ_j v_j + Σ_{d(i,j) <= W} (e^(logit_ij - m) - c e^-m) v_j,   c = 1 or 0
 *     denominator_i = e^-m c n_i     + Σ_{d(i,j) <= W} (e^(logit_ij - m) - c e^-m)
 *
 * over the n_i admissible keys: one sum for all rows without a direction, prefix or suffix sums with one. O(T V + B W
 * D) time in blocks of plain matrix products, memory for the output and one block. The proof of the bound is in
 * band.ts; section 4.2.3 of diomande2026ragpp has the dense form.
 *
 * When 2 W + 1 >= T there is no far field, and under a mask of pairs it would be another for each row; the dense form
 * is computed then, and the result says so.
 *
 * @param settings.tolerance largest Euclidean error of an output row for values of length 1, from which W follows; 0
 *   asks for the dense form
 * @throws ValidationError, DimensionMismatchError, NotFiniteError for rows that cannot be attended to, ValidationError
 *   for a negative tolerance.
 */
export async function bandedRingAttention(
  inputs: AttentionRows,
  options: RingAttentionOptions,
  settings: { readonly tolerance?: number } = {},
): Promise<RowAttention> {
  const rows = checkRows(inputs);
  const band = chooseBand(rows, settings.tolerance ?? DEFAULT_TOLERANCE, options);
  const span = 2 * band.width + 1;
  if (span < rows.turns && rows.mask === undefined) return attendBanded(rows, band, options);
  const reason = rows.mask === undefined ? `a band of ${span} turns covers all of ${rows.turns}` : PAIRS_MASKED;
  const output = await attendDense(rows, options);
  return displayRowAttention({ output, method: 'dense', reason, bandWidth: band.width, errorBound: 0 });
}
