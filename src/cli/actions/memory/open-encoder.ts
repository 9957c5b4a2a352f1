import { join } from 'node:path';
import { ConfigurationError } from '../../../core/errors/errors.ts';
import { useBackend } from '../../../core/tensors/backend.ts';
import type { StartProgress } from '../../../core/terminal/progress.ts';
import { createCachedEncoder } from '../../../index/encoders/embedding-cache.ts';
import { createEncoderSource, ENCODERS, type EncoderOptions } from '../../../index/encoders/registry.ts';
import type { Encoder } from '../../../model/encoder.ts';

/** Encoders that need texts to be fitted on, or vectors by id: they have no vector for a new text alone. */
const OTHERS: readonly string[] = ['lsa', 'precomputed'];
const CHOICES: readonly string[] = ENCODERS.names.filter((name) => !OTHERS.includes(name));

/** @throws ConfigurationError for an encoder that cannot encode a new text alone. */
export function assertFreeEncoder(encoder: string): void {
  if (CHOICES.includes(encoder)) return;
  throw new ConfigurationError('the encoder of a memory', [
    { path: 'encoder', expected: `one of ${CHOICES.join(', ')}`, got: JSON.stringify(encoder) },
  ]);
}

/** The encoder of a memory, whose vectors are kept in the cache. @throws ConfigurationError, UnavailableError. */
export async function openEncoder(options: EncoderOptions, cache: string, progress: StartProgress): Promise<Encoder> {
  assertFreeEncoder(options.encoder);
  await useBackend('auto');
  const source = createEncoderSource(options, { fitTexts: [], seed: 1 });
  return createCachedEncoder(source, join(cache, 'embeddings'), progress);
}
