import { chooseBlockRows } from './attention-block.ts';
import { displayRowAttention } from './attention-display.ts';
import { type AttentionRows, checkRows, type RowAttention } from './attention-rows.ts';
import { attendBanded, chooseBand, DEFAULT_TOLERANCE, PAIRS_MASKED } from './banded-ring-attention.ts';
import { attendDense } from './blockwise-ring-attention.ts';
import type { RingAttentionOptions } from './options.ts';

/**
 * Ring attention of any number of queries over a conversation, dense or banded, whichever is cheaper within the
 * tolerance: dense as long as one block of tensors holds all keys, and under a mask of pairs. The result names the
 * method, the reason, W, and the proven error.
 *
 * @param settings.tolerance largest Euclidean error of an output row for values of length 1; 0 asks for the dense form
 * @throws ValidationError, DimensionMismatchError, NotFiniteError for rows that cannot be attended to, ValidationError for a negative tolerance.
 */
export async function attend(
  inputs: AttentionRows,
  options: RingAttentionOptions,
  settings: { readonly tolerance?: number } = {},
): Promise<RowAttention> {
  const rows = checkRows(inputs);
  const band = chooseBand(rows, settings.tolerance ?? DEFAULT_TOLERANCE, options);
  const span = chooseBlockRows(rows.dimension) + 2 * band.width;
  if (rows.turns > span && rows.mask === undefined) return attendBanded(rows, band, options);
  const reason = rows.mask === undefined ? `one block holds ${span} keys, all of ${rows.turns}` : PAIRS_MASKED;
  const output = await attendDense(rows, options);
  return displayRowAttention({ output, method: 'dense', reason, bandWidth: band.width, errorBound: 0 });
}
