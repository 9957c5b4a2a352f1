import { createRandom } from '../../../core/numbers/random.ts';
import { multiplyRows } from '../../../core/tensors/rows.ts';
import { type Corpus, listConversationPositions } from '../../../model/turns/corpus.ts';
import type { TurnOrder } from '../../../ops/attention/ring-geometry.ts';
import { computeDepths } from '../../../ops/trajectory/frame-tables.ts';
import type { QueryFrames } from '../../../ops/trajectory/query-frames.ts';
import type { Looker, TurnsAhead } from '../forward-mass.ts';

/**
 * Remembers for each conversation what was made of its first turns the last time. Queries come in time order, so that
 * most ask for the same number of turns as the one before them, and memory stays linear in the turns.
 */
export function keepLatest<T>(
  make: (conversation: number, turns: number) => T,
): (conversation: number, turns: number) => T {
  const latest = new Map<number, { readonly turns: number; readonly made: T }>();
  return (conversation, turns) => {
    const known = latest.get(conversation);
    if (known?.turns === turns) return known.made;
    const made = make(conversation, turns);
    latest.set(conversation, { turns, made });
    return made;
  };
}

/**
 * For each conversation the corpus positions of its turns in time order, of turns of one moment the less deep ones
 * first: then every turn comes after the one that it answers. Later turns do not change the order of earlier turns.
 */
export function orderParentsFirst(corpus: Corpus): Int32Array[] {
  const depth = computeDepths(corpus.parent);
  const { timestamps } = corpus;
  return listConversationPositions(corpus).map((positions) =>
    positions.sort(
      (a, b) =>
        (timestamps[a] as number) - (timestamps[b] as number) || (depth[a] as number) - (depth[b] as number) || a - b,
    ),
  );
}

/**
 * Null control `permuted-order`: the turns of each conversation get a random order, all orders being equally likely. Each turn draws a number when it is
 * said. The turns present at a moment are sorted by their numbers. So a new turn gets any place between the others and does not change their order.
 */
export function drawPermutedOrder(corpus: Corpus, seed: number): TurnOrder {
  const drawn = corpus.conversations.map(({ id, turns }) => {
    const source = createRandom(seed, `permuted-order/${id}`);
    return Float64Array.from(turns, () => source.uniform());
  });
  return keepLatest((conversation, size) => {
    const numbers = drawn[conversation] as Float64Array;
    const turnAt = Int32Array.from({ length: size }, (_, turn) => turn);
    turnAt.sort((a, b) => (numbers[a] as number) - (numbers[b] as number) || a - b);
    const ringPositionOf = new Int32Array(size);
    for (const [drawnRingPosition, turn] of turnAt.entries()) ringPositionOf[turn] = drawnRingPosition;
    return { ringPositionOf, turnAt };
  });
}

/** The steps of {@link QueryFrames} to a query that stands last, after turns in another order. @param positions [B, C] as of the frames. */
export function permuteFrames(
  frames: QueryFrames,
  positions: Int32Array,
  { conversationOf, ringPosition }: Corpus,
  order: TurnOrder,
): QueryFrames {
  const drawnRingPosition = (position: number, pair: number) => {
    if (position < 0) return 0;
    const { ringPositionOf } = order(conversationOf[position] as number, frames.turns[pair] as number);
    return ringPositionOf[ringPosition[position] as number] as number;
  };
  const ringPositions = positions.map(drawnRingPosition);
  const countPermutedSteps = (ring: number, pair: number) =>
    (positions[pair] as number) < 0 ? 0 : (frames.turns[pair] as number) - ring;
  const lineDistances = Float32Array.from(ringPositions, countPermutedSteps);
  const ringDistances = lineDistances.map((along, pair) => Math.min(along, (ringPositions[pair] as number) + 1));
  return { ...frames, ringPositions, lineDistances, ringDistances };
}

/**
 * The turns that stand ahead in another order.
 *
 * @param vectors row-major [N, D] of length 1, or zero.
 * @param width W
 */
export function listAheadInOrder(corpus: Corpus, vectors: Float32Array, width: number, order: TurnOrder): TurnsAhead {
  const conversations = listConversationPositions(corpus);
  const dimension = vectors.length / corpus.size;
  return {
    width,
    copyCosines({ position, ringPosition: drawnRingPosition, turns }: Looker, start, end, into, at) {
      const conversation = corpus.conversationOf[position] as number;
      const { turnAt } = order(conversation, turns);
      for (let steps = start; steps < end; steps++) {
        const other = turnAt[drawnRingPosition + steps] as number;
        const there = (conversations[conversation] as Int32Array)[other] as number;
        into[at + steps - start] = multiplyRows(vectors, position, vectors, there, dimension);
      }
    },
  };
}
