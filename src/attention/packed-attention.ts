import { attentionBlock } from './attention-block.ts';
import { rowScales, unitRows } from './attention-rows.ts';
import { admissibleCount } from './far-field.ts';
import { emptyTerms, writeTerms } from './logit-terms.ts';
import type { RingAttentionOptions } from './options.ts';

/** Conversations that are computed in one block. */
export interface ConversationPack {
  /** Indices of conversations, longest first. */
  readonly conversations: readonly number[];
  /** Turns of all of them. */
  readonly turns: number;
}

/**
 * Puts conversations of about the same length together until a block is full, so that the products of a block are as large as a device likes them.
 *
 * @param lengths turns of each conversation
 * @param capacity most turns in a pack; longer conversations are in none
 */
export function packConversations(lengths: readonly number[], capacity: number): ConversationPack[] {
  const packs: { conversations: number[]; turns: number }[] = [];
  const short = [...lengths.keys()].filter((conversation) => (lengths[conversation] as number) <= capacity);
  for (const conversation of short.sort((a, b) => (lengths[b] as number) - (lengths[a] as number) || a - b)) {
    const turns = lengths[conversation] as number;
    const open = packs.at(-1);
    if (open === undefined || open.turns + turns > capacity) packs.push({ conversations: [conversation], turns });
    else {
      open.conversations.push(conversation);
      open.turns += turns;
    }
  }
  return packs;
}

/**
 * Ring attention of several conversations, each with itself, in one block: keys of other conversations are masked, so nothing is padded. O(R² D) for R turns in
 * all, two plain products.
 *
 * @param embeddings row-major [R, D], one conversation after the other, each in ring order; queries, keys and values
 * @param lengths turns of each conversation
 * @returns row-major [R, D]; a row without an admissible key is zero
 * @throws NotFiniteError for embeddings that are not finite.
 */
export async function packedRingAttention(
  embeddings: Float32Array,
  lengths: readonly number[],
  options: RingAttentionOptions,
): Promise<Float32Array> {
  const rows = lengths.reduce((sum, length) => sum + length, 0);
  const width = embeddings.length / rows;
  const terms = emptyTerms(rows, rows);
  const counts: number[] = [];
  for (const turns of lengths) {
    const corner = { row: counts.length, column: counts.length };
    const places = { first: 0, count: turns };
    writeTerms(terms, corner, places, places, { turns, options, width: turns });
    for (let place = 0; place < turns; place++) counts.push(admissibleCount(place, turns, options));
  }
  const units = unitRows(embeddings, rowScales('embeddings', embeddings, width), { first: 0, count: rows });
  const block = await attentionBlock({ queries: units, keys: units, values: embeddings, terms }, 0);
  const output = new Float32Array(rows * width);
  for (const [row, count] of counts.entries()) {
    if (count === 0) continue;
    const start = row * (width + 2);
    const scale = 1 / (block[start + width] as number);
    for (let d = 0; d < width; d++) output[row * width + d] = (block[start + d] as number) * scale;
  }
  return output;
}
