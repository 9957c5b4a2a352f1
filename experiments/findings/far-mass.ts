import { viewRow } from '../../src/core/tensors/rows.ts';
import { RING_ATTENTION_DEFAULTS, type RingAttentionOptions } from '../../src/ops/attention/options.ts';
import { type ConversationVectors, spreadRingPositions, weightRows } from './conversation-weights.ts';
import { formatLengthRange, groupByLength, type LengthGroup } from './length-groups.ts';
import { gatherMessageVectors, type MeasuredCorpus } from './measured-corpus.ts';
import type { FindingsSettings } from './settings.ts';

/** The share of attention on keys more than W steps away, for each window W; null without such keys. */
export type FarShares = readonly (number | null)[];

export interface FarMass {
  /** The messages read as a conversation. */
  readonly conversation: string;
  readonly self: RingAttentionOptions['self'];
  readonly multiplicative: FarShares;
  readonly additive: FarShares;
}

/** Attention beyond each window, summed over messages. */
class FarSums {
  readonly #windows: readonly number[];
  readonly #far: Float64Array;
  readonly #rows: Float64Array;

  constructor(windows: readonly number[]) {
    this.#windows = windows;
    this.#far = new Float64Array(windows.length);
    this.#rows = new Float64Array(windows.length);
  }

  /** Counts a message's weights for the windows that leave some of its ring out. */
  add(row: Float32Array, i: number): void {
    const turns = row.length;
    for (const [w, window] of this.#windows.entries()) {
      if (window >= Math.floor(turns / 2)) continue;
      let far = 0;
      for (let j = i + window + 1; j < i + turns - window; j++) far += row[j % turns] as number;
      this.#far[w]! += far;
      this.#rows[w]!++;
    }
  }

  get shares(): FarShares {
    return this.#windows.map((_, w) => (this.#rows[w] === 0 ? null : this.#far[w]! / this.#rows[w]!));
  }
}

/**
 * The share of attention beyond each window, averaged over messages of the conversations, at most `sampledMessages` of each. O(T D) a message.
 *
 * @param windows ascending
 */
export async function measureFarShares(
  conversations: readonly ConversationVectors[],
  { windows, sampledMessages }: Pick<FindingsSettings, 'windows' | 'sampledMessages'>,
  options: RingAttentionOptions,
): Promise<FarShares> {
  const mass = new FarSums(windows);
  for (const conversation of conversations) {
    const { turns } = conversation;
    const ringPositions = spreadRingPositions(turns, sampledMessages);
    const rows = await weightRows(conversation, 'causal', options, ringPositions);
    for (const [k, ringPosition] of ringPositions.entries()) mass.add(viewRow(rows, turns, k), ringPosition);
  }
  return mass.shares;
}

/** The longest threads, and the beginnings of the corpus in the order of time as if each were one conversation. */
function selectLongConversations(measured: MeasuredCorpus, prefixes: readonly number[]) {
  const { corpus, embeddings, dimension, conversations } = measured;
  const longest = groupByLength(conversations).at(-1) as LengthGroup;
  const threads = longest.conversations.map((positions) => {
    return { turns: positions.length, vectors: gatherMessageVectors(measured, positions) };
  });
  const sizes = [...prefixes.filter((turns) => turns < corpus.size), corpus.size];
  const beginnings = sizes.map((turns) => {
    const name = `${turns === corpus.size ? 'all' : 'first'} ${turns.toLocaleString('en')} messages`;
    return { name, members: [{ turns, vectors: embeddings.subarray(0, turns * dimension) }] };
  });
  return [{ name: `longest threads, ${formatLengthRange(longest)} messages`, members: threads }, ...beginnings];
}

/** The attention on far messages for the two ways of combining similarity and distance, as a conversation grows; the paper's decay and temperature. */
export async function measureFarMasses(measured: MeasuredCorpus, settings: FindingsSettings): Promise<FarMass[]> {
  const rows: FarMass[] = [];
  for (const self of ['include', 'exclude'] as const)
    for (const { name, members } of selectLongConversations(measured, settings.prefixes)) {
      const measureCombinedShares = (combine: RingAttentionOptions['combine']) =>
        measureFarShares(members, settings, { ...RING_ATTENTION_DEFAULTS, self, combine });
      const [multiplicative, additive] = [
        await measureCombinedShares('multiplicative'),
        await measureCombinedShares('additive'),
      ];
      rows.push({ conversation: name, self, multiplicative, additive });
    }
  return rows;
}
