import { join } from 'node:path';
import { createCachedEncoder } from '../src/embedding/embedding-cache.ts';
import { createEncoderSource, type EncoderInput } from '../src/embedding/registry.ts';
import type { StudyContext } from './study.ts';

/** The vectors of all turns, [N, D] unit rows, by an encoder that is fitted on the dev turns. */
export async function embedTurns(
  turns: readonly { readonly text: string; readonly dev: boolean }[],
  { embedding, seed }: { readonly embedding: EncoderInput; readonly seed: number },
  { cacheFolder, progress }: StudyContext,
): Promise<{ readonly vectors: Float32Array; readonly dimension: number }> {
  const fitTexts = turns.filter(({ dev }) => dev).map(({ text }) => text);
  const source = createEncoderSource(embedding, { fitTexts, seed });
  const encoder = await createCachedEncoder(source, join(cacheFolder, 'embeddings'), progress);
  try {
    const texts = turns.map(({ text }) => text);
    return { vectors: await encoder.encode(texts, progress), dimension: encoder.dimension };
  } finally {
    encoder.dispose();
  }
}
