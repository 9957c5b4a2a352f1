import { beforeAll, describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import {
  createEncoder,
  createEncoderSource,
  ENCODERS,
  type EncoderOptions,
  encoderOptions,
  isFittedEncoder,
} from './registry.ts';

const TEXTS = ['red apples and pears', 'green apples and plums', 'red plums', 'pears, plums and green grass'];

beforeAll(async () => void (await useBackend('wasm')));

describe('encoder registry', () => {
  test('fills in the defaults', () => {
    expect(encoderOptions.parse({ encoder: 'lsa', stem: true })).toEqual({
      encoder: 'lsa',
      dimension: 512,
      powerIterations: 2,
      oversampling: 28,
      minDocumentFrequency: 2,
      maxDocumentShare: 0.5,
      dropStopWords: false,
      stem: true,
    });
    expect(encoderOptions.parse({ encoder: 'use-lite' })).toEqual({
      encoder: 'use-lite',
      maxTokens: 256,
      batchSize: 16,
    });
  });

  test.each([
    [{ encoder: 'lsa', dimensions: 7 }, /dimensions/],
    [{ encoder: 'use-lite', dimension: 7 }, /dimension/],
    [{ encoder: 'word2vec' }, /encoder/],
    [{ encoder: 'lsa', dimension: 1.5 }, /dimension/],
  ])('refuses %j', (options, fault) => {
    expect(encoderOptions.safeParse(options).error?.message).toMatch(fault);
  });

  test('lsa alone is fitted on the texts and needs nothing else', () => {
    expect(ENCODERS.names.filter((encoder) => isFittedEncoder({ encoder }))).toEqual(['lsa']);
  });

  test('an unknown encoder is refused where no compiler has checked it', async () => {
    const context = { fitTexts: TEXTS, seed: 3 };
    const unknown = { encoder: 'word2vec' } as unknown as EncoderOptions;
    expect(() => createEncoderSource(unknown, context)).toThrow(
      /encoder: expected "lsa" or "use-lite" or "bert" or "precomputed" or "transformers" or "openai-compatible", got "word2vec"/,
    );
    await expect(createEncoder(unknown, context)).rejects.toThrow(ConfigurationError);
  });

  test.each(['lsa', 'use-lite'] as const)('makes %s, with the identity that its source announced', async (name) => {
    const options = encoderOptions.parse({ encoder: name });
    const context = { fitTexts: TEXTS, seed: 3 };
    const encoder = await createEncoder(options, context);
    expect(encoder.name).toBe(name);
    expect(encoder.identity).toEqual({
      ...createEncoderSource(options, context).identity,
      dimension: encoder.dimension,
    });
    expect((await encoder.encode(TEXTS)).length).toBe(TEXTS.length * encoder.dimension);
    encoder.dispose();
  });
});
