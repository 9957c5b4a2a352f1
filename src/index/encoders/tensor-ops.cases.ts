import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TensorOps } from '../../core/tensors/tensor-op.harness.ts';
import { ignoreProgress } from '../../core/terminal/progress.ts';
import type { Encoder } from '../../model/encoder.ts';
import { createCachedEncoder } from './embedding-cache.ts';
import { LSA_DEFAULTS } from './encoder-options.ts';
import { fitLsa } from './lsa.ts';
import { createEncoder, createEncoderSource, encoderOptions } from './registry.ts';

const TEXTS = ['soup and bread', 'bread and garden', 'garden and soup', 'a garden of bread'];
const options = encoderOptions.parse({ encoder: 'lsa', dimension: 2, maxDocumentShare: 1 });
const lsa = { ...LSA_DEFAULTS, dimension: 2, maxDocumentShare: 1, seed: 1 };
const buildContext = (fitTexts: readonly string[]) => ({ fitTexts, seed: 1 });

async function encodeSample(making: Promise<Encoder>, texts: readonly string[] = TEXTS): Promise<Float32Array> {
  const encoder = await making;
  try {
    return await encoder.encode(texts);
  } finally {
    encoder.dispose();
  }
}

async function encodeCached(fitTexts: readonly string[]): Promise<Float32Array> {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-cached-'));
  try {
    return await encodeSample(createCachedEncoder(createEncoderSource(options, buildContext(fitTexts)), folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const TENSOR_OPS: TensorOps = {
  fitLsa: {
    use: () => encodeSample(fitLsa(TEXTS, lsa)),
    refuses: [[() => fitLsa(['soup', 'bread'], lsa), /lsa: no term occurs in at least 2 texts/]],
    edges: { 'zero vectors': [() => encodeSample(fitLsa(TEXTS, lsa), ['unheard', '']), [0, 0, 0, 0]] },
  },
  createEncoder: {
    use: () => encodeSample(createEncoder(options, buildContext(TEXTS))),
    refuses: [[() => createEncoder(options, buildContext([])), /lsa: no term occurs/]],
  },
  createEncoderSource: {
    use: () => encodeSample(createEncoderSource(options, buildContext(TEXTS)).create(ignoreProgress)),
    refuses: [[() => createEncoderSource(options, buildContext([])).create(ignoreProgress), /lsa: no term occurs/]],
  },
  createCachedEncoder: {
    use: () => encodeCached(TEXTS),
    refuses: [[() => encodeCached([]), /lsa: no term occurs/]],
  },
  loadUseLite: { provedIn: 'src/index/encoders/use-lite.test.ts' },
};
