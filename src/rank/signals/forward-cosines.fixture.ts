import { gatherRows } from '../../core/tensors/rows.ts';
import { type Corpus, listConversationPositions } from '../../model/turns/corpus.ts';
import { buildForwardCosines, type CorpusCosines } from './forward-mass.ts';

/** The cosines ahead in every conversation of a corpus. @param embeddings row-major [N, D] */
export async function buildCorpusCosines(
  corpus: Corpus,
  embeddings: Float32Array,
  width: number,
): Promise<CorpusCosines> {
  const dimension = embeddings.length / corpus.size;
  const cosines = new Map<number, Awaited<ReturnType<typeof buildForwardCosines>>>();
  for (const [place, positions] of listConversationPositions(corpus).entries())
    cosines.set(
      place,
      await buildForwardCosines(gatherRows(embeddings, dimension, positions), positions.length, width),
    );
  return cosines;
}
