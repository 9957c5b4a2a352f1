import { silent } from '../core/progress.ts';
import type { TensorOps } from '../core/tensor-op.harness.ts';
import type { Encoder } from '../model/encoder.ts';
import { fitLsa } from './lsa.ts';
import { LSA_DEFAULTS } from './lsa-options.ts';
import { createEncoder, encoderOptions, encoderSource } from './registry.ts';

const TEXTS = ['soup and bread', 'bread and garden', 'garden and soup', 'a garden of bread'];
const options = encoderOptions.parse({ encoder: 'lsa', dimension: 2, maxDocumentShare: 1 });
const lsa = { ...LSA_DEFAULTS, dimension: 2, maxDocumentShare: 1, seed: 1 };
const context = (fitTexts: readonly string[]) => ({ fitTexts, seed: 1 });

async function encoded(making: Promise<Encoder>, texts: readonly string[] = TEXTS): Promise<Float32Array> {
  const encoder = await making;
  try {
    return await encoder.encode(texts);
  } finally {
    encoder.dispose();
  }
}

export const TENSOR_OPS: TensorOps = {
  fitLsa: {
    use: () => encoded(fitLsa(TEXTS, lsa)),
    refuses: [[() => fitLsa(['soup', 'bread'], lsa), /lsa: no term occurs in at least 2 texts/]],
    edges: { 'zero vectors': [() => encoded(fitLsa(TEXTS, lsa), ['unheard', '']), [0, 0, 0, 0]] },
  },
  createEncoder: {
    use: () => encoded(createEncoder(options, context(TEXTS))),
    refuses: [[() => createEncoder(options, context([])), /lsa: no term occurs/]],
  },
  encoderSource: {
    use: () => encoded(encoderSource(options, context(TEXTS)).create(silent)),
    refuses: [[() => encoderSource(options, context([])).create(silent), /lsa: no term occurs/]],
  },
  loadUseLite: { provedIn: 'src/embedding/use-lite.test.ts' },
};
