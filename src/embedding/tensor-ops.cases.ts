import { silent } from '../core/progress.ts';
import type { TensorOps } from '../core/tensor-op.harness.ts';
import type { Encoder } from '../model/encoder.ts';
import { fitLsa, LSA_DEFAULTS } from './lsa.ts';
import { randomisedSvd } from './randomised-svd.ts';
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

/** A diagonal matrix. */
const diagonal = (values: readonly number[]) => ({
  rows: values.length,
  columns: values.length,
  offsets: Int32Array.from({ length: values.length + 1 }, (_, i) => i),
  columnOf: Int32Array.from(values.keys()),
  values: Float64Array.from(values),
});
const svd = { rank: 2, oversampling: 1, powerIterations: 2, seed: 1 };

export const TENSOR_OPS: TensorOps = {
  fitLsa: {
    use: () => encoded(fitLsa(TEXTS, lsa)),
    refuses: [[() => fitLsa(['soup', 'bread'], lsa), /lsa needs a term in at least 2 texts/]],
    edges: { 'zero vectors': [() => encoded(fitLsa(TEXTS, lsa), ['unheard', '']), [0, 0, 0, 0]] },
  },
  createEncoder: {
    use: () => encoded(createEncoder(options, context(TEXTS))),
    refuses: [[() => createEncoder(options, context([])), /lsa needs a term/]],
  },
  encoderSource: {
    use: () => encoded(encoderSource(options, context(TEXTS)).create(silent)),
    refuses: [[() => encoderSource(options, context([])).create(silent), /lsa needs a term/]],
  },
  randomisedSvd: {
    use: () => randomisedSvd(diagonal([5, 3, 2]), svd),
    refuses: [
      [() => randomisedSvd(diagonal([0, 0, 0]), svd), /^matrix has rank 0: 3 × 3$/],
      [() => randomisedSvd(diagonal([1e-30, 1e-30]), svd), /^matrix has rank 0: 2 × 2$/], // squares are 0 in float32
      [() => randomisedSvd(diagonal([]), svd), /^matrix has rank 0: 0 × 0$/],
    ],
    edges: {
      duplicates: [async () => (await randomisedSvd(diagonal([3, 3, 3]), svd)).singularValues, [3, 3]],
      'one turn': [() => randomisedSvd(diagonal([7]), svd), [1, 7, 1]],
      'K > C': [async () => (await randomisedSvd(diagonal([5, 2]), { ...svd, rank: 7 })).singularValues, [5, 2]],
    },
  },
  loadUseLite: { provedIn: 'src/embedding/use-lite.test.ts' },
};
