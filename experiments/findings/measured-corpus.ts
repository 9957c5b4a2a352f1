import { join } from 'node:path';
import { ValidationError } from '../../src/core/errors/errors.ts';
import { gatherRows } from '../../src/core/tensors/rows.ts';
import { loadDataset } from '../../src/data/registry.ts';
import { createCachedEncoder } from '../../src/index/encoders/embedding-cache.ts';
import { createEncoderSource } from '../../src/index/encoders/registry.ts';
import type { RunContext } from '../../src/lab/run/run.ts';
import type { Dataset } from '../../src/model/dataset.ts';
import { type Corpus, listConversationPositions } from '../../src/model/turns/corpus.ts';
import type { FindingsSettings } from './settings.ts';

export type FindingsContext = Omit<Required<RunContext>, 'armsAtOnce'>;

/** Conversations with their vectors, the data of every finding. */
export interface MeasuredCorpus {
  readonly corpus: Corpus;
  /** Row-major [N, D] */
  readonly embeddings: Float32Array;
  /** D */
  readonly dimension: number;
  /** Corpus positions of each conversation's messages, in ring order; single messages too. */
  readonly conversations: readonly Int32Array[];
}

/** @throws ValidationError if no message has another one to attend to. */
export function buildMeasuredCorpus(corpus: Corpus, embeddings: Float32Array, dimension: number): MeasuredCorpus {
  const conversations = listConversationPositions(corpus);
  if (conversations.every(({ length }) => length < 2))
    throw new ValidationError(
      `none of ${conversations.length} conversations has two messages or more; use a larger dataset`,
    );
  return { corpus, embeddings, dimension, conversations };
}

/** The vectors of a conversation's messages, row-major [T, D]. */
export function gatherMessageVectors({ embeddings, dimension }: MeasuredCorpus, positions: Int32Array): Float32Array {
  return gatherRows(embeddings, dimension, positions);
}

/** Loads the data and embeds it with an encoder fitted on the dev conversations alone, as every experiment's is. */
export async function loadMeasuredCorpus(
  settings: FindingsSettings,
  { cacheFolder, progress }: FindingsContext,
): Promise<{ readonly dataset: Dataset; readonly measured: MeasuredCorpus }> {
  const dataset = await loadDataset(settings.dataset, { cacheFolder: join(cacheFolder, 'datasets'), progress });
  const { corpus, devConversations } = dataset;
  const fitTexts = corpus.turns.filter((turn) => devConversations.has(turn.conversationId)).map(({ text }) => text);
  const source = createEncoderSource(settings.embedding, { fitTexts, seed: settings.seed });
  const encoder = await createCachedEncoder(source, join(cacheFolder, 'embeddings'), progress);
  try {
    const texts = corpus.turns.map(({ text }) => text);
    const embeddings = await encoder.encode(texts, progress);
    return { dataset, measured: buildMeasuredCorpus(corpus, embeddings, encoder.dimension) };
  } finally {
    encoder.dispose();
  }
}
