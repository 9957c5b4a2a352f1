import { RING_ATTENTION_DEFAULTS, type RingAttentionOptions } from '../../src/ops/attention/options.ts';
import { weightMatrix } from './conversation-weights.ts';
import { countGroupMessages, formatLengthRange, groupByLength, type LengthGroup } from './length-groups.ts';
import { gatherMessageVectors, type MeasuredCorpus } from './measured-corpus.ts';

/** Differences between two readings of ring attention. */
interface Difference {
  /** The greatest of a single weight. */
  readonly greatest: number;
  /** The greatest of each message's weights, averaged over the messages. */
  readonly mean: number;
}

/** The effect of reversing the ring on the weights of threads of about the same length. */
export interface ReversalEffect {
  readonly self: RingAttentionOptions['self'];
  readonly lengths: string;
  readonly threads: number;
  readonly messages: number;
  /** RCP and IRCP by the formula: the same ring distances, from the front or from the back. */
  readonly literal: Difference;
  /** IRCP by the formula, and looking only at what came later. */
  readonly directed: Difference;
}

/** Gathers differences row by row. */
class Differences {
  #greatest = 0;
  #sum = 0;
  #rows = 0;

  /** @param a row-major [T, T] */
  add(a: Float32Array, b: Float32Array, turns: number): void {
    for (let row = 0; row < turns; row++) {
      let most = 0;
      for (let at = row * turns, end = at + turns; at < end; at++)
        most = Math.max(most, Math.abs((a[at] as number) - (b[at] as number)));
      this.#greatest = Math.max(this.#greatest, most);
      this.#sum += most;
    }
    this.#rows += turns;
  }

  get result(): Difference {
    return { greatest: this.#greatest, mean: this.#sum / this.#rows };
  }
}

async function measureReversalEffect(
  measured: MeasuredCorpus,
  group: LengthGroup,
  self: RingAttentionOptions['self'],
): Promise<ReversalEffect> {
  const options = { ...RING_ATTENTION_DEFAULTS, self };
  const [literal, directed] = [new Differences(), new Differences()];
  for (const positions of group.conversations) {
    const thread = { turns: positions.length, vectors: gatherMessageVectors(measured, positions) };
    const rcp = await weightMatrix(thread, 'causal', options);
    const ircp = await weightMatrix(thread, 'inverse', options);
    literal.add(rcp, ircp, thread.turns);
    directed.add(ircp, await weightMatrix(thread, 'causal', { ...options, direction: 'anticausal' }), thread.turns);
  }
  return {
    self,
    lengths: formatLengthRange(group),
    threads: group.conversations.length,
    messages: countGroupMessages(group),
    literal: literal.result,
    directed: directed.result,
  };
}

/** IRCP beside RCP on every thread of two messages or more, by length: with the paper's options, and with each message excluded from its own keys. */
export async function measureReversalEffects(measured: MeasuredCorpus): Promise<ReversalEffect[]> {
  const groups = groupByLength(measured.conversations.filter(({ length }) => length > 1));
  const effects: ReversalEffect[] = [];
  for (const self of ['include', 'exclude'] as const)
    for (const group of groups) effects.push(await measureReversalEffect(measured, group, self));
  return effects;
}
