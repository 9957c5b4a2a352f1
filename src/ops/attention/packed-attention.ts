import { computeAttentionBlock } from './attention-block.ts';
import { computeRowScales, copyUnitRows, listRowNumbers } from './attention-rows.ts';
import { allocateTerms, MASKED, writeTerms } from './logit-terms.ts';
import type { RingAttentionOptions } from './options.ts';

/** Conversations that are computed in one block. */
interface ConversationPack {
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
  const terms = allocateTerms(rows, rows);
  let start = 0;
  for (const turns of lengths) {
    const ringPositions = { first: 0, count: turns };
    const corner = { row: start, column: start };
    writeTerms(terms, corner, listRowNumbers(ringPositions, turns), ringPositions, { turns, options, width: turns });
    start += turns;
  }
  const all = listRowNumbers({ first: 0, count: rows }, rows);
  const units = copyUnitRows(embeddings, computeRowScales('embeddings', embeddings, width), all);
  const block = await computeAttentionBlock({ queries: units, keys: units, values: embeddings, terms }, 0);
  const output = new Float32Array(rows * width);
  for (let row = 0; row < rows; row++) {
    const at = row * (width + 2);
    if ((block[at + width + 1] as number) <= MASKED / 2) continue; // the largest logit: no key was admissible
    const scale = 1 / (block[at + width] as number);
    for (let d = 0; d < width; d++) output[row * width + d] = (block[at + d] as number) * scale;
  }
  return output;
}
