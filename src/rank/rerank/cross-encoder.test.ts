import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { findPeerVersion, type ModelTensor } from '../../index/encoders/transformers/model-files.ts';
import { openPairModel, type PairModel, scorePairs } from './cross-encoder.ts';
import { selectionOptions } from './registry.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-cross-encoder-'));
afterAll(() => rmSync(folder, { recursive: true }));

function isPeerInstalled(): boolean {
  try {
    return findPeerVersion() !== '';
  } catch {
    return false;
  }
}

describe('a model that is not there', () => {
  test.skipIf(isPeerInstalled())(
    'without the optional package is refused with the command that installs it',
    async () => {
      await expect(openPairModel({ model: folder, dtype: 'fp32' })).rejects.toMatchObject({
        code: 'UNAVAILABLE',
        message:
          'reranker cross-encoder is not available: @huggingface/transformers is not installed: npm install --onnxruntime-node-install=skip @huggingface/transformers@4',
      });
    },
  );

  test.skipIf(!isPeerInstalled())('with the package is refused by folder, then by weights', async () => {
    await expect(openPairModel({ model: folder, dtype: 'fp32' })).rejects.toThrow(/there is no config\.json in/);
    writeFileSync(join(folder, 'config.json'), '{}');
    await expect(openPairModel({ model: folder, dtype: 'fp32' })).rejects.toThrow(/there is no onnx.model\.onnx/);
  });
});

/** A model of pairs by hand: the logit is the number of characters that query and text share at their start. */
function createSharedStart(width = 1) {
  const log: { pairs: number; disposed: number; longest: unknown } = { pairs: 0, disposed: 0, longest: null };
  const tensor = (values: readonly number[], dims: readonly number[]): ModelTensor => ({
    type: 'float32',
    dims,
    data: Float32Array.from(values),
    dispose: () => void log.disposed++,
  });
  const countShared = (a: string, b: string) => {
    let shared = 0;
    while (shared < a.length && a[shared] === b[shared]) shared++;
    return shared;
  };
  const model = Object.assign(
    async ({ shared }: Readonly<Record<string, ModelTensor>>) => {
      const values = [...((shared as ModelTensor).data as Float32Array)].flatMap((value) =>
        Array(width).fill(value - 2),
      );
      return { logits: tensor(values, [values.length / width, width]) };
    },
    { dispose: async () => undefined },
  );
  const opened: PairModel = {
    model,
    tokeniser: (queries, { text_pair: texts, max_length: longest }) => {
      log.pairs = Math.max(log.pairs, queries.length);
      log.longest = longest;
      const counts = queries.map((query, i) => countShared(query, (texts as string[])[i] as string));
      return { shared: tensor(counts, [queries.length]) };
    },
  };
  return { opened, log };
}

describe('the scores of pairs', () => {
  const pairs = ['rome', 'rover', 'alps', 'r', 'ro'].map((text) => ({ query: 'rome', text }));

  test('are the logistic function of the logits, in the order of the pairs, in batches', async () => {
    const { opened, log } = createSharedStart();
    const scores = await scorePairs(opened, pairs, { maxTokens: 64, batchSize: 2 });
    const expected = [4, 2, 0, 1, 2].map((shared) => 1 / (1 + Math.exp(2 - shared)));
    for (const [i, value] of expected.entries()) expect(scores[i]).toBeCloseTo(value, 6);
    // Three batches, of each the inputs and the outputs.
    expect(log).toEqual({ pairs: 2, disposed: 6, longest: 64 });
    expect(await scorePairs(opened, [], { maxTokens: 64, batchSize: 2 })).toHaveLength(0);
  });

  test('of a model with several logits for a pair are refused, and its tensors freed', async () => {
    const { opened, log } = createSharedStart(3);
    await expect(scorePairs(opened, pairs, { maxTokens: 64, batchSize: 5 })).rejects.toThrow(
      'the model gives logits [5,3], expected logits [5,1]; use a cross-encoder with one score for a pair',
    );
    expect(log.disposed).toBe(2);
  });
});

test('the options name a folder', () => {
  expect(selectionOptions.parse({ method: 'cross-encoder', model: 'models/pairs' })).toEqual({
    method: 'cross-encoder',
    k: 50,
    weight: 1,
    model: 'models/pairs',
    dtype: 'fp32',
    maxTokens: 512,
    batchSize: 16,
  });
  expect(selectionOptions.safeParse({ method: 'cross-encoder' }).success).toBe(false);
});
