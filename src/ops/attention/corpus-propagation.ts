import { computeRowWidth, gatherRows } from '../../core/tensors/rows.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { listConversationPositions } from '../../model/turns/conversation-positions.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { attend } from './attend.ts';
import { chooseBlockRows } from './attention-block.ts';
import { assertTolerance } from './band.ts';
import { DEFAULT_TOLERANCE } from './banded-ring-attention.ts';
import type { PropagationOptions } from './options.ts';
import { packConversations, packedRingAttention } from './packed-attention.ts';

/** N propagated embeddings, and how they were computed. */
export interface CorpusPropagation {
  /** Row-major [N, D] in corpus order; a row is zero if the mix of its embedding and its neighbours' is. */
  readonly vectors: Float32Array;
  /** The numbers of conversations packed into shared blocks, computed alone with every key, and banded. */
  readonly conversations: Readonly<Record<'packed' | 'dense' | 'banded', number>>;
  /** Proven bound on the Euclidean error of an attention output, before it is mixed and normalised, for embeddings of length 1 at most. */
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

/** Writes `normalise((1 - beta) e + beta * attention output)` of each row to its place in the corpus. */
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
 * Propagates every turn of a corpus over its whole conversation, each conversation being a ring (or line) of its own, as `propagate` does for one: short
 * conversations share blocks with others of their length, longer ones go through `attend`, so that the longest cost time linear in their turns.
 *
 * @param embeddings row-major [N, D]
 * @param settings.tolerance largest Euclidean error of an attention output, for embeddings of length 1
 * @throws DimensionMismatchError when the embeddings do not fit the corpus, NotFiniteError for embeddings that are not finite, ValidationError for a negative
 * tolerance.
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
  const packs = packConversations(lengths, capacity).map(({ conversations }) => conversations);
  const long = [...lengths.keys()].filter((conversation) => (lengths[conversation] as number) > capacity);
  const vectors = new Float32Array(embeddings.length);
  const conversations = { packed: 0, dense: 0, banded: 0 };
  let errorBound = 0;
  let done = 0;
  const progress = (settings.progress ?? ignoreProgress)('propagation', lengths.length);
  for (const [task, group] of [...packs, ...long.map((conversation) => [conversation])].entries()) {
    const members = group.map((conversation) => positions[conversation] as Int32Array);
    const rows = Int32Array.from(members.flatMap((member) => [...member]));
    const gathered = gatherRows(embeddings, width, rows);
    const part = await attendMembers(members, gathered, task < packs.length, options, tolerance);
    writeMixed(vectors, rows, part, options.beta);
    conversations[part.method] += group.length;
    errorBound = Math.max(errorBound, part.errorBound);
    done += group.length;
    progress.update(done);
  }
  progress.finish(`${conversations.packed} packed, ${conversations.dense} dense, ${conversations.banded} banded`);
  return { vectors, conversations, errorBound };
}
