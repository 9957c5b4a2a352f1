import { createRandom } from '../../core/numbers/random.ts';
import type { BertArrays, BertSizes } from './bert.ts';

/** A BERT small enough to be computed by hand: two layers, three heads of four numbers, 23 pieces. */
export const SMALL_SIZES: BertSizes = {
  hidden_size: 12,
  num_hidden_layers: 2,
  num_attention_heads: 3,
  intermediate_size: 20,
  max_position_embeddings: 9,
  vocab_size: 23,
  layer_norm_eps: 1e-12,
};

/** The shapes of its arrays by their names. */
function listShapes({ hidden_size: D, num_hidden_layers, intermediate_size: inner, ...sizes }: BertSizes) {
  const norm = (name: string) => [[`${name}.weight`, [D]] as const, [`${name}.bias`, [D]] as const];
  const linear = (name: string, inputs: number, outputs: number) => [
    [`${name}.weight`, [outputs, inputs]] as const,
    [`${name}.bias`, [outputs]] as const,
  ];
  return [
    ['embeddings.word_embeddings.weight', [sizes.vocab_size, D]] as const,
    ['embeddings.position_embeddings.weight', [sizes.max_position_embeddings, D]] as const,
    ['embeddings.token_type_embeddings.weight', [2, D]] as const,
    ...norm('embeddings.LayerNorm'),
    ...Array.from({ length: num_hidden_layers }, (_, l) => `encoder.layer.${l}`).flatMap((at) => [
      ...['query', 'key', 'value'].flatMap((part) => linear(`${at}.attention.self.${part}`, D, D)),
      ...linear(`${at}.attention.output.dense`, D, D),
      ...norm(`${at}.attention.output.LayerNorm`),
      ...linear(`${at}.intermediate.dense`, D, inner),
      ...linear(`${at}.output.dense`, inner, D),
      ...norm(`${at}.output.LayerNorm`),
    ]),
  ];
}

/** Random weights of the sizes. */
export function drawBert(seed: number, sizes: BertSizes = SMALL_SIZES): Record<string, BertArrays[string]> {
  const source = createRandom(seed, 'bert');
  return Object.fromEntries(
    listShapes(sizes).map(([name, shape]) => {
      const count = shape.reduce((product, size) => product * size, 1);
      const shift = name.endsWith('LayerNorm.weight') ? 1 : 0;
      return [name, { shape, data: Float32Array.from({ length: count }, () => shift + 0.4 * source.drawNormal()) }];
    }),
  );
}
