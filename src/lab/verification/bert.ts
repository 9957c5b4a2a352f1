import { z } from 'zod';
import { readBack } from '../../core/tensors/scope.ts';
import { parse } from '../../core/validation/validation.ts';
import { disposeBert, runBert, uploadBert } from '../../ops/bert/bert.ts';
import { type GoldenCase, type Part, TENSOR, type Topic } from './topic.ts';

const bertCase = z.looseObject({
  sizes: z.strictObject({
    hidden_size: z.int(),
    num_hidden_layers: z.int(),
    num_attention_heads: z.int(),
    intermediate_size: z.int(),
    max_position_embeddings: z.int(),
    vocab_size: z.int(),
    layer_norm_eps: z.number(),
  }),
  /** By the names of Hugging Face. */
  arrays: z.record(z.string(), z.strictObject({ shape: z.array(z.int()), data: z.array(z.number()) })),
  /** [B, T] */
  ids: z.array(z.array(z.int())),
  /** [B, T, D] */
  expected: z.strictObject({ vectors: z.array(z.array(z.array(z.number()))) }),
});

export const bert: Topic = {
  name: 'bert',
  async compute(golden: GoldenCase): Promise<readonly Part[]> {
    const { sizes, arrays, ids, expected } = parse(bertCase, golden, golden.name);
    const model = uploadBert(arrays, sizes);
    try {
      const length = (ids[0] as readonly number[]).length;
      const rows = await readBack('bert', () => runBert(model, Int32Array.from(ids.flat()), length));
      return [{ at: 'vectors', expected: expected.vectors.flat(2), got: [...rows], tolerance: TENSOR }];
    } finally {
      disposeBert(model);
    }
  },
};
