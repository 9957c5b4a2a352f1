import { type Corpus, listConversationPositions } from '../../../model/turns/corpus.ts';
import { computeDepths } from '../../../ops/trajectory/frame-tables.ts';

/**
 * For each conversation the corpus positions of its turns in time order, of turns of one moment the less deep ones first: then every turn comes after the one that
 * it answers. Later turns do not change the order of earlier turns.
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
