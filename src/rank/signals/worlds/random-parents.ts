import { createRandom } from '../../../core/numbers/random.ts';
import type { Conversation } from '../../../model/turns/conversation.ts';
import type { Corpus } from '../../../model/turns/corpus.ts';
import { orderParentsFirst } from './parents-first.ts';

/**
 * Null control `random-parents`: each turn that answers another answers any of the earlier turns of its conversation instead, all being equally likely. Roots stay
 * roots, and a query stays where it is.
 *
 * @returns [N] positions, -1 for a root. Later turns do not affect the parent of a turn.
 */
export function drawRandomParents(corpus: Corpus, seed: number): Int32Array {
  const parent = corpus.parent.slice();
  for (const [conversation, order] of orderParentsFirst(corpus).entries()) {
    const source = createRandom(seed, `random-parents/${(corpus.conversations[conversation] as Conversation).id}`);
    for (const [ringPosition, position] of order.entries())
      if ((parent[position] as number) >= 0) parent[position] = order[source.integer(ringPosition)] as number;
  }
  return parent;
}
