import * as tf from '@tensorflow/tfjs-core';
import { openPowerSums } from '../../core/numbers/power-sums.ts';
import { matmul } from '../../core/tensors/matmul.ts';
import { computeRowWidth, findFirstRows, gatherRows, transposeRows } from '../../core/tensors/rows.ts';
import { readBack } from '../../core/tensors/scope.ts';
import { letEventsIn } from '../../core/terminal/progress.ts';
import type { Conversation } from '../../model/turns/conversation.ts';
import { type Corpus, listPositions } from '../../model/turns/corpus.ts';
import { computeRowScales, copyUnitRows, packConversations } from '../../ops/attention/attention-rows.ts';
import { MASKED, type RingAttentionOptions, tabulateTerms } from '../../ops/attention/options.ts';
import { keepParts, type World } from './signal.ts';
import { computeMissing } from './stage.ts';

/** Rows in a product of neighbours: large enough for few launches, small enough to compute little beside the band. */
const BLOCK_ROWS = 512;

/**
 * Cosines between turns of one conversation of n that can be W steps or nearer on its ring, whatever its size at the
 * moment of asking. Rows are ring positions.
 */
export interface ForwardCosines {
  /** The lesser of W and n. */
  readonly width: number;
  /**
   * Row-major [n, width + 1] to the turn k positions later, k = 0 … width; beyond the conversation the numbers have no
   * meaning.
   */
  readonly next: Float32Array;
  /** Row-major [n, width] to the i-th turn of the conversation, i = 0 … W - 1; empty where no turn is further than W. */
  readonly first: Float32Array;
}

/** Cosines of each of `rows` with each of `others`, row-major; both are row-major [any, D], of length 1 or 0. */
function multiplyForCosines(rows: Float32Array, others: Float32Array, dimension: number): Promise<Float32Array> {
  // Transposed on the host, which saves a launch.
  const columns = transposeRows(others, dimension);
  return readBack('multiplyForCosines', () =>
    matmul(
      tf.tensor2d(rows, [rows.length / dimension, dimension]),
      tf.tensor2d(columns, [dimension, columns.length / dimension]),
    ),
  );
}

/**
 * The band of later rows, block by block: each block's product with itself and the W rows after it.
 *
 * @param ordered row-major [n, D]
 * @returns row-major [n, W + 1]
 */
async function computeNext(ordered: Float32Array, dimension: number, width: number): Promise<Float32Array> {
  const size = ordered.length / dimension;
  const next = new Float32Array(size * (width + 1));
  const viewRows = (start: number, end: number) => ordered.subarray(start * dimension, end * dimension);
  for (let start = 0; start < size; start += BLOCK_ROWS) {
    const end = Math.min(start + BLOCK_ROWS, size);
    const last = Math.min(end + width, size);
    const values = await multiplyForCosines(viewRows(start, end), viewRows(start, last), dimension);
    for (let row = start; row < end; row++) {
      const own = (row - start) * (last - start) + row - start;
      next.set(values.subarray(own, own + Math.min(width + 1, last - row)), row * (width + 1));
    }
  }
  return next;
}

/** Cosines of a conversation that is longer than a block. @param ordered row-major [n, D] */
async function computeLong(ordered: Float32Array, dimension: number, width: number): Promise<ForwardCosines> {
  const own = Math.min(width, ordered.length / dimension);
  const next = await computeNext(ordered, dimension, own);
  const isFar = ordered.length / dimension > width;
  const first = isFar ? multiplyForCosines(ordered, ordered.subarray(0, own * dimension), dimension) : null;
  return { width: own, next, first: (await first) ?? new Float32Array(0) };
}

/**
 * Cosines of a conversation from the products of some with each other.
 *
 * @param cosines row-major [rows, rows]
 * @param start the first row of the conversation
 */
function cutForwardCosines(
  cosines: Float32Array,
  rows: number,
  start: number,
  size: number,
  width: number,
): ForwardCosines {
  const own = Math.min(width, size);
  const next = new Float32Array(size * (own + 1));
  const first = new Float32Array(size > width ? size * own : 0);
  for (let row = 0; row < size; row++) {
    const at = (start + row) * rows + start;
    next.set(cosines.subarray(at + row, at + Math.min(row + own + 1, size)), row * (own + 1));
    if (first.length > 0) first.set(cosines.subarray(at, at + own), row * own);
  }
  return { width: own, next, first };
}

/**
 * Built once a conversation by matrix products: of a conversation of more than 512 turns in O(n D (W + 512)), of others
 * in one product of all rows, O(R² D).
 *
 * @param embeddings row-major [R, D], a conversation after the other, each in ring order; a zero row has cosine 0
 * @param sizes the n of each conversation, at least 1
 * @param width W, at least 1, or infinite
 * @throws DimensionMismatchError, NotFiniteError for embeddings that don't fit or are not finite.
 */
export async function buildForwardCosines(
  embeddings: Float32Array,
  sizes: readonly number[],
  width: number,
): Promise<ForwardCosines[]> {
  const what = 'embeddings of the conversation';
  const rows = sizes.reduce((sum, size) => sum + size, 0);
  const dimension = computeRowWidth(what, embeddings, rows);
  const order = Int32Array.from({ length: rows }, (_, turn) => turn);
  const ordered = copyUnitRows(embeddings, computeRowScales(what, embeddings, dimension), order);
  if (sizes.length === 1 && rows > BLOCK_ROWS) return [await computeLong(ordered, dimension, width)];
  const cosines = await multiplyForCosines(ordered, ordered, dimension);
  let start = 0;
  return sizes.map((size) => {
    start += size;
    return cutForwardCosines(cosines, rows, start - size, size, width);
  });
}

/** Cosines ahead in some conversations of a corpus, by their index in it. */
export type CorpusCosines = readonly (ForwardCosines | undefined)[];

/**
 * Cosines ahead in the conversations of some turns, each conversation's computed once.
 *
 * @param positions of the turns; negative ones are padding.
 * @param width W, or infinite
 */
export async function findForwardCosines(
  { shared }: World,
  positions: Int32Array,
  width: number,
): Promise<CorpusCosines> {
  const { corpus, turnVectors, dimension } = shared;
  const key = `forward cosines ${width}`;
  const known = await shared.keepOnce(key, () => new Array<ForwardCosines>(corpus.conversations.length));
  const places = new Set<number>();
  for (const position of positions) {
    const place = corpus.conversationOf[position];
    if (place !== undefined && known[place] === undefined) places.add(place);
  }
  if (places.size === 0) return known;
  const compute = async (conversations: readonly Conversation[]) => {
    const built: ForwardCosines[] = [];
    const lengths = conversations.map(({ turns }) => turns.length);
    for (const pack of packConversations(lengths, BLOCK_ROWS)) {
      const rows = pack.flatMap((i) => [
        ...listPositions(corpus, corpus.getPlace((conversations[i] as Conversation).id)),
      ]);
      const sizes = pack.map((i) => lengths[i] as number);
      const cosines = await buildForwardCosines(gatherRows(turnVectors, dimension, rows), sizes, width);
      for (const [j, i] of pack.entries()) built[i] = cosines[j] as ForwardCosines;
    }
    return built;
  };
  const asked = Array.from(places, (place) => corpus.conversations[place] as Conversation);
  const found = await computeMissing(await keepParts<ForwardCosines>(shared, key), asked, compute);
  for (const [i, place] of [...places].entries()) known[place] = found[i] as ForwardCosines;
  return known;
}

/** The number of pairs between two breaks for events, about 20 ms. */
const PAIRS_AT_ONCE = 4096;

/**
 * Ring attention of a turn over the turns after it: topology, combination, self, decay and temperature. There is no direction, because the turn only
 * looks forward.
 */
export type ForwardOptions = Omit<RingAttentionOptions, 'direction'>;

/** A turn that looks forward over a conversation of `turns` turns, on a ring that the query has joined. */
export interface Looker {
  /** In the corpus. */
  readonly position: number;
  /** On the ring. */
  readonly ringPosition: number;
  readonly turns: number;
}

/** The turns that a looker sees, by their distance after it. */
export interface TurnsAhead {
  /** W: the steps, either way round the ring, to the last key that is looked at. */
  readonly width: number;
  /**
   * Writes the cosines of the looker to the turns `start` to `end` - 1 positions after it, which are at most W steps away
   * one way or the other, into an array from `at` on.
   */
  copyCosines(looker: Looker, start: number, end: number, into: Float64Array, at: number): void;
}

/** The turns in time order. @param width W */
export function listTurnsAhead({ conversationOf }: Corpus, cosines: CorpusCosines, width: number): TurnsAhead {
  return {
    width,
    copyCosines({ position, ringPosition }, start, end, into, at) {
      const { width: near, next, first } = cosines[conversationOf[position] as number] as ForwardCosines;
      const own = ringPosition * (near + 1);
      let steps = start;
      for (; steps < end && steps <= near; steps++) into[at + steps - start] = next[own + steps] as number;
      for (; steps < end; steps++)
        into[at + steps - start] = first[(ringPosition + steps) * near + ringPosition] as number;
    },
  };
}

/** The turns of a ring that is a line: further than any two turns are apart. */
const NO_RING = 2 ** 31 - 1;

/** Log masses of lookers among the same turns by one set of options; the effect of a distance on a cosine is tabulated. */
class ForwardMasses {
  readonly #ahead: TurnsAhead;
  readonly #options: ForwardOptions;
  /** `logit = cosine * slope + offset` by distance, 0 … W. */
  readonly #terms: ReturnType<typeof tabulateTerms>;
  /** Its numbers are the logits of one looker. */
  readonly #powers = openPowerSums();

  constructor(ahead: TurnsAhead, options: ForwardOptions) {
    this.#ahead = ahead;
    this.#options = options;
    this.#terms = tabulateTerms(ahead.width, options);
  }

  /** Takes the memory of the powers. To be called before {@link logMass}, and again once something was awaited. */
  begin(): void {
    this.#powers.keepTerms(2 * this.#ahead.width + 1, this.#terms);
  }

  /**
   * `ln sum_j e^logit_j` over a turn's keys, each key in the band but the query once, far ones counting e^0 = 1 each
   * (multiplicative) or nothing (additive); {@link MASKED} without a key.
   */
  logMass(looker: Looker): number {
    const [{ width }, powers] = [this.#ahead, this.#powers];
    const { topology, self, combine } = this.#options;
    const isMultiplicative = combine === 'multiplicative';
    const steps = looker.turns - looker.ringPosition;
    const start = self === 'include' ? 0 : 1;
    const end = Math.min(steps, width + 1);
    const ring = topology === 'ring' ? looker.turns + 1 : NO_RING;
    this.#ahead.copyCosines(looker, start, end, powers.numbers, 0);
    let count = end - start;
    let greatest = powers.scale(0, count, start, ring, isMultiplicative ? 0 : MASKED);
    // Turns more than W positions later, but at most W steps in the other direction.
    const wrapped = Math.max(width + 1, ring - width);
    if (wrapped < steps) {
      this.#ahead.copyCosines(looker, wrapped, steps, powers.numbers, count);
      greatest = powers.scale(count, count + steps - wrapped, wrapped, ring, greatest);
      count += steps - wrapped;
    }
    const far = steps - start - count;
    const sum = powers.add(count, greatest, isMultiplicative && far > 0 ? far * Math.exp(-greatest) : 0);
    return sum === 0 ? MASKED : greatest + Math.log(sum);
  }
}

/**
 * For each pair of a query and a candidate the log mass of what the candidate sees when it looks forward over the turns after it (and itself, unless `self` is
 * exclude) up to, and without, the query. It depends on the query only through the number of turns as of then, so each (candidate, turns) is computed once, in
 * O(W): an exponential a key, which takes less than to pack the key for a device.
 *
 * @param ahead of an order that the ring positions are positions of
 * @param positions [B C] corpus positions, -1 for padding
 * @param ringPositions [B C] p
 * @param turns [B C] n
 * @returns [B C], 0 for padding
 */
export async function computeForwardLogMasses(
  ahead: TurnsAhead,
  pairs: { readonly positions: Int32Array; readonly ringPositions: Int32Array; readonly turns: Int32Array },
  options: ForwardOptions,
): Promise<Float32Array> {
  const { positions, ringPositions, turns } = pairs;
  const masses = new ForwardMasses(ahead, options);
  const firsts = findFirstRows(positions, turns);
  const result = new Float32Array(positions.length);
  const looker = { position: 0, ringPosition: 0, turns: 0 };
  for (let pair = 0; pair < positions.length; ) {
    await letEventsIn();
    masses.begin();
    for (const end = Math.min(pair + PAIRS_AT_ONCE, positions.length); pair < end; pair++) {
      looker.position = positions[pair] as number;
      if (looker.position < 0) continue;
      const first = firsts[pair] as number;
      looker.ringPosition = ringPositions[pair] as number;
      looker.turns = turns[pair] as number;
      result[pair] = first < pair ? (result[first] as number) : masses.logMass(looker);
    }
  }
  return result;
}
