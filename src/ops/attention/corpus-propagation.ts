import { computeRowWidth, gatherRows } from '../../core/tensors/rows.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { type Corpus, listConversationPositions } from '../../model/turns/corpus.ts';
import { attend } from './attend.ts';
import { chooseBlockRows, computeAttentionBlock } from './attention-block.ts';
import { computeRowScales, copyUnitRows, listRowNumbers, packConversations } from './attention-rows.ts';
import { assertTolerance } from './band.ts';
import { DEFAULT_TOLERANCE } from './banded-ring-attention.ts';
import { allocateTerms, MASKED, type PropagationOptions, type RingAttentionOptions, writeTerms } from './options.ts';

/**
 * Ring attention of several conversations, each with itself, in one block: keys of other conversations are masked, so
 * nothing is padded. O(R² D) for R turns in all, two plain products.
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

/** N propagated embeddings, and how they were computed. */
export interface CorpusPropagation {
  /** Row-major [N, D] in corpus order; a row is zero if the mix of its embedding and its neighbours' is. */
  readonly vectors: Float32Array;
  /** The numbers of conversations packed into shared blocks, computed alone with every key, and banded. */
  readonly conversations: Readonly<Record<'packed' | 'dense' | 'banded', number>>;
  /**
   * Proven bound on the Euclidean error of an attention output, before it is mixed and normalised, for embeddings of
   * length 1 at most.
   */
  readonly errorBound: number;
}

/** Attention outputs [R, D] of some conversations, and the [R, D] embeddings they were computed from. */
interface Part {
  readonly embeddings: Float32Array;
  readonly output: Float32Array;
  readonly method: keyof CorpusPropagation['conversations'];
  readonly errorBound: number;
}

/** @param members corpus positions of the turns of one conversation, or of several that share a block */
async function attendMembers(
  members: readonly Int32Array[],
  embeddings: Float32Array,
  isPack: boolean,
  options: PropagationOptions,
  tolerance: number,
): Promise<Part> {
  const lengths = members.map(({ length }) => length);
  if (isPack) {
    const output = await packedRingAttention(embeddings, lengths, options);
    return { embeddings, output, method: 'packed', errorBound: 0 };
  }
  const inputs = { turns: lengths[0] as number, queries: embeddings, keys: embeddings, values: embeddings };
  return { embeddings, ...(await attend(inputs, options, { tolerance })) };
}

/** Writes `normalise((1 - beta) e + beta * attention output)` of each row to its position in the corpus. */
function writeMixed(vectors: Float32Array, positions: Int32Array, { embeddings, output }: Part, beta: number): void {
  const width = computeRowWidth('embeddings', embeddings, positions.length);
  const mixed = new Float64Array(width);
  for (let row = 0; row < positions.length; row++) {
    let square = 0;
    for (let d = 0, at = row * width; d < width; d++, at++) {
      const value = (1 - beta) * (embeddings[at] as number) + beta * (output[at] as number);
      mixed[d] = value;
      square += value * value;
    }
    const scale = square === 0 ? 0 : 1 / Math.sqrt(square);
    const to = (positions[row] as number) * width;
    for (let d = 0; d < width; d++) vectors[to + d] = (mixed[d] as number) * scale;
  }
}

/**
 * Propagates every turn of a corpus over its whole conversation, each conversation being a ring (or line) of its own,
 * as `propagate` does for one: short conversations share blocks with others of their length, longer ones go through
 * `attend`, so that the longest cost time linear in their turns.
 *
 * @param embeddings row-major [N, D]
 * @param settings.tolerance largest Euclidean error of an attention output, for embeddings of length 1
 * @throws DimensionMismatchError when the embeddings do not fit the corpus, NotFiniteError for embeddings that are not
 *   finite, ValidationError for a negative tolerance.
 */
export async function propagateCorpus(
  corpus: Corpus,
  embeddings: Float32Array,
  options: PropagationOptions,
  settings: { readonly tolerance?: number; readonly progress?: StartProgress } = {},
): Promise<CorpusPropagation> {
  const { tolerance = DEFAULT_TOLERANCE } = settings;
  assertTolerance(tolerance);
  const width = computeRowWidth('embeddings of the corpus', embeddings, corpus.size);
  const capacity = chooseBlockRows(width);
  const positions = listConversationPositions(corpus);
  const lengths = positions.map(({ length }) => length);
  const vectors = new Float32Array(embeddings.length);
  const conversations = { packed: 0, dense: 0, banded: 0 };
  let errorBound = 0;
  let done = 0;
  const progress = (settings.progress ?? ignoreProgress)('propagation', lengths.length);
  for (const group of packConversations(lengths, capacity)) {
    const members = group.map((conversation) => positions[conversation] as Int32Array);
    const rows = Int32Array.from(members.flatMap((member) => [...member]));
    const gathered = gatherRows(embeddings, width, rows);
    const isPack = (lengths[group[0] as number] as number) <= capacity;
    const part = await attendMembers(members, gathered, isPack, options, tolerance);
    writeMixed(vectors, rows, part, options.beta);
    conversations[part.method] += group.length;
    errorBound = Math.max(errorBound, part.errorBound);
    done += group.length;
    progress.update(done);
  }
  progress.finish(`${conversations.packed} packed, ${conversations.dense} dense, ${conversations.banded} banded`);
  return { vectors, conversations, errorBound };
}
