import { random } from '../core/random.ts';

/**
 * A share of the conversations, at least one; a smaller share of the same conversations is within a larger one.
 *
 * @param labels the conversation of each query.
 * @param share in (0, 1].
 */
export function sampleConversations(labels: readonly string[], share: number, seed: number): ReadonlySet<string> {
  const shuffled = random(seed, 'conversation-sample').shuffle([...new Set(labels)]);
  return new Set(shuffled.slice(0, Math.ceil(shuffled.length * share)));
}
