import { rowWidth } from '../core/rows.ts';
import { blockRows } from './attention-block.ts';
import type { AttentionRows, RowAttention } from './attention-rows.ts';
import { leastBandWidth } from './band.ts';
import { bandedRingAttention, DEFAULT_TOLERANCE } from './banded-ring-attention.ts';
import { blockwiseRingAttention } from './blockwise-ring-attention.ts';
import type { RingAttentionOptions } from './options.ts';

/**
 * Ring attention of a conversation with itself, dense or banded, whichever is cheaper within the tolerance: dense as long as one block of a band would hold all
 * keys. The result names the method, the reason, W, and the proven error. For queries and keys of different conversations, or keys under a mask, use
 * `ringAttention`.
 *
 * @param settings.tolerance largest Euclidean error of an output row for values of length 1; 0 asks for the dense form
 * @throws ValidationError, DimensionMismatchError, NotFiniteError for rows that cannot be attended to, ValidationError for a negative tolerance.
 */
export async function attend(
  inputs: AttentionRows,
  options: RingAttentionOptions,
  settings: { readonly tolerance?: number } = {},
): Promise<RowAttention> {
  const { tolerance = DEFAULT_TOLERANCE } = settings;
  const bandWidth = leastBandWidth(inputs.turns, tolerance, options);
  const span = blockRows(rowWidth('queries', inputs.queries, inputs.turns)) + 2 * bandWidth;
  if (inputs.turns > span) return bandedRingAttention(inputs, options, { tolerance });
  const output = await blockwiseRingAttention(inputs, options);
  const reason = `one block of a band holds ${span} keys, all of ${inputs.turns}`;
  return { output, method: 'dense', reason, bandWidth, errorBound: 0 };
}
