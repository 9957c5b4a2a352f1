import { viewRow } from '../../core/tensors/rows.ts';
import { parse } from '../../core/validation/validation.ts';
import type { AttentionRows } from '../../ops/attention/attention-rows.ts';
import { bandedRingAttention } from '../../ops/attention/banded-ring-attention.ts';
import { blockwiseRingAttention } from '../../ops/attention/blockwise-ring-attention.ts';
import { ringAttentionOptions } from '../../ops/attention/options.ts';
import { type GoldenCase, type Part, TENSOR, type Topic } from './topic.ts';

interface LongRingCase {
  readonly options: unknown;
  /** Queries, keys and values in one. */
  readonly values: number[][];
  /** Rows whose output is expected. */
  readonly rows: number[];
  readonly expected: { readonly output: unknown };
}

/** Banded attention, which must not have fallen back to the dense form, and the dense form block by block. */
export const longRing: Topic = {
  name: 'long-ring',
  async compute(input: GoldenCase): Promise<readonly Part[]> {
    const golden = input as unknown as LongRingCase;
    const options = parse(ringAttentionOptions, golden.options, input.name);
    const values = Float32Array.from(golden.values.flat());
    const inputs: AttentionRows = { turns: golden.values.length, queries: values, keys: values, values };
    const banded = await bandedRingAttention(inputs, options);
    const dense = await blockwiseRingAttention(inputs, options);
    const width = values.length / inputs.turns;
    const pickGoldenRows = (output: Float32Array) => golden.rows.map((row) => [...viewRow(output, width, row)]);
    const shared = { expected: golden.expected.output, tolerance: TENSOR };
    return [
      { at: 'method', expected: 'banded', got: banded.method, tolerance: TENSOR },
      { ...shared, at: 'banded output', got: pickGoldenRows(banded.output) },
      { ...shared, at: 'dense output', got: pickGoldenRows(dense) },
    ];
  },
};
