import { readFileSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { requirePackages } from '../../core/required-packages.harness.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { compileKernel } from '../../core/tensors/kernel-text.harness.ts';
import { drawBert } from './bert.fixture.ts';
import { type BertSizes, disposeBert, runBert, runBertLayers, uploadBert } from './bert.ts';
import { TENSOR_PARTS } from './layer-parts.ts';
import { fitsWasmParts, WASM_PARTS } from './wasm-parts.ts';

beforeAll(() => useBackend('wasm'));

requirePackages('wabt').test('the bytes of the kernel are those of its text', async () => {
  const compiled = await compileKernel(new URL('bert-layer.wat', import.meta.url));
  const source = readFileSync(new URL('wasm-parts.ts', import.meta.url), 'utf8');
  expect(source, `set KERNEL to '${compiled}'`).toContain(`'${compiled}'`);
});

/** Runs both, and compares what they give. */
function compare(run: (parts: typeof WASM_PARTS) => tf.Tensor2D, tolerance: number) {
  const before = tf.memory().numTensors;
  const [ours, tensors] = [WASM_PARTS, TENSOR_PARTS].map((parts) => {
    const result = run(parts);
    const values = result.dataSync();
    result.dispose();
    return values;
  }) as [Float32Array, Float32Array];
  expect(tf.memory().numTensors).toBe(before);
  expect(ours).toHaveLength(tensors.length);
  for (const [i, value] of tensors.entries())
    expect(Math.abs(ours[i]! - value)).toBeLessThan(tolerance * Math.max(1, Math.abs(value)));
}

const drawn = fc.record({
  batch: fc.integer({ min: 1, max: 3 }),
  length: fc.integer({ min: 1, max: 50 }),
  heads: fc.integer({ min: 1, max: 3 }),
  blocks: fc.integer({ min: 1, max: 3 }),
  scale: fc.constantFrom(0.01, 1, 4),
  seed: fc.nat(),
});

test('parts of a layer are those of tensor operations', () => {
  fc.assert(
    fc.property(drawn, ({ batch, length, heads, blocks, scale, seed }) => {
      const random = createRandom(seed, 'parts');
      const draw = (size: number) => Float32Array.from({ length: size }, () => scale * random.drawNormal());
      const [rows, D] = [batch * length, 16 * heads * blocks];
      const inputs = [tf.tensor2d(draw(rows * 3 * D), [rows, 3 * D]), tf.tensor1d(draw(3 * D))] as const;
      const [x, bias] = inputs;
      const [own, beside] = [tf.tensor2d(draw(rows * D), [rows, D]), tf.tensor2d(draw(rows * D), [rows, D])];
      const [short, scaling, shift] = [draw(D), draw(D), draw(D)].map((values) => tf.tensor1d(values)) as [
        tf.Tensor1D,
        tf.Tensor1D,
        tf.Tensor1D,
      ];
      const rounding = 2e-5 * Math.max(1, scale) ** 2; // as logits, which are products of two such numbers
      compare((parts) => parts.attend(x, bias, heads, length), rounding);
      compare((parts) => parts.gelu(x, bias), 2e-6);
      compare((parts) => parts.normalise(own, short, beside, { scale: scaling, shift }, 1e-12), rounding);
      tf.dispose([x, bias, own, beside, short, scaling, shift]);
    }),
    { numRuns: 25 },
  );
});

test('a pass by the kernel is that of tensor operations, whatever the memory that the backend takes meanwhile', () => {
  const sizes: BertSizes = {
    ...{ hidden_size: 32, num_hidden_layers: 3, num_attention_heads: 2, intermediate_size: 64 },
    ...{ max_position_embeddings: 20, vocab_size: 30, layer_norm_eps: 1e-12 },
  };
  expect(fitsWasmParts(sizes)).toBe(true);
  expect(fitsWasmParts({ ...sizes, num_attention_heads: 4 })).toBe(false);
  const bert = uploadBert(drawBert(3, sizes), sizes);
  const ids = Int32Array.from({ length: 34 }, (_, i) => i % 30);
  const before = tf.memory().numTensors;
  for (const room of [0, 5e7]) {
    const large = tf.zeros([room]); // lets the memory of the backend grow
    const ours = runBert(bert, ids, 17);
    const none = { ...bert, layers: [] };
    const tensors = tf.tidy(() => runBertLayers(sizes, bert.layers, runBert(none, ids, 17), 17));
    expect(tf.tidy(() => tf.max(tf.abs(tf.sub(ours, tensors))).dataSync()[0])).toBeLessThan(1e-5);
    tf.dispose([large, ours, tensors]);
  }
  expect(tf.memory().numTensors).toBe(before);
  disposeBert(bert);
});
