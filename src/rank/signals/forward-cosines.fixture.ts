import { gatherRows } from '../../core/tensors/rows.ts';
import { type Corpus, listConversationPositions } from '../../model/turns/corpus.ts';
import { packConversations } from '../../ops/attention/attention-rows.ts';
import { buildForwardCosines, type CorpusCosines, type ForwardCosines } from './forward-mass.ts';

/** The cosines ahead in every conversation of a corpus. @param embeddings row-major [N, D] */
export async function buildCorpusCosines(
  corpus: Corpus,
  embeddings: Float32Array,
  width: number,
): Promise<CorpusCosines> {
  const dimension = embeddings.length / corpus.size;
  const positions = listConversationPositions(corpus);
  const lengths = positions.map(({ length }) => length);
  const cosines: ForwardCosines[] = [];
  for (const pack of packConversations(lengths, 256)) {
    const rows = pack.flatMap((place) => [...(positions[place] as Int32Array)]);
    const sizes = pack.map((place) => lengths[place] as number);
    const built = await buildForwardCosines(gatherRows(embeddings, dimension, rows), sizes, width);
    for (const [i, place] of pack.entries()) cosines[place] = built[i] as ForwardCosines;
  }
  return cosines;
}
