import { join } from 'node:path';
import { createCachedEncoder } from '../src/index/encoders/embedding-cache.ts';
import { createEncoderSource, type EncoderInput } from '../src/index/encoders/registry.ts';
import type { StudyContext } from './study.ts';

/** The vectors of texts, [N, D] unit rows, by an encoder that is fitted on `fitTexts`. */
export async function embedTurns(
  texts: readonly string[],
  fitTexts: readonly string[],
  { embedding, seed }: { readonly embedding: EncoderInput; readonly seed: number },
  { cacheFolder, progress }: StudyContext,
): Promise<{ readonly vectors: Float32Array; readonly dimension: number }> {
  const source = createEncoderSource(embedding, { fitTexts, seed });
  const encoder = await createCachedEncoder(source, join(cacheFolder, 'embeddings'), progress);
  try {
    return { vectors: await encoder.encode(texts, progress), dimension: encoder.dimension };
  } finally {
    encoder.dispose();
  }
}
