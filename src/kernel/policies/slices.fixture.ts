import { createRandom } from '../../core/numbers/random.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { generateKey, type KeyRing } from '../signatures/kernel-keys.ts';
import { type SlicePolicy, type SlicePolicyInput, slicePolicySchema } from './policy.ts';

const PHASES = ['plan', 'act', 'review', null];
const HOUR = 3_600_000;

/** Turns of drawn conversations in time order: trees with replies, channels, authors, phases and references. The first n are the same for every larger number. */
export function drawTurns(count: number, seed = 11, conversations = 4): Turn[] {
  const random = createRandom(seed, 'slices');
  const below = (n: number) => Math.floor(random.uniform() * n);
  const turns: Turn[] = [];
  for (let i = 0; i < count; i++) {
    const conversationId = `c${below(conversations)}`;
    const own = turns.filter((turn) => turn.conversationId === conversationId);
    const parent = own.length === 0 || random.uniform() < 0.05 ? null : (own[below(own.length)] as Turn);
    const phase = PHASES[below(4)];
    const earlier = turns[below(Math.max(1, i))];
    const references = random.uniform() < 0.2 && earlier !== undefined ? [earlier.id, 'missing'] : [];
    turns.push({
      ...{ id: `t${String(i).padStart(4, '0')}`, conversationId, parentId: parent?.id ?? null },
      ...{
        timestamp: (i - below(2)) * HOUR + 10 * HOUR,
        author: `a${below(5)}`,
        channel: `k${below(3)}`,
        text: `text ${i}`,
      },
      attributes: { ...(phase && { phase }), ...(references.length > 0 && { references }) },
    });
  }
  // A child is never before its parent.
  return turns.map((turn) => {
    const parent = turns.find(({ id }) => id === turn.parentId);
    return parent === undefined ? turn : { ...turn, timestamp: Math.max(turn.timestamp, parent.timestamp) };
  });
}

export const drawCorpus = (count: number, seed?: number): Corpus => new Corpus(drawTurns(count, seed));

/** All relations count. */
export function buildPolicy(changes: Partial<SlicePolicyInput> = {}): SlicePolicy {
  return slicePolicySchema.parse({
    ...{ id: 'sample', maxNodes: 12, minPriority: 0.05, phaseWeight: { plan: 1, act: 0.8, review: 0.7 } },
    relationWeight: { channel: 0.5, author: 0.4, reference: 0.7 },
    ...changes,
  });
}

/** One key that signs. */
export const makeKeys = (): KeyRing => ({ keys: [generateKey()] });
