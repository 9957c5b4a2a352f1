import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { encodeSafetensors, readCheckedSafetensors } from '../../core/files/safetensors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import type { TokenText, TokenVectors } from '../../model/encoder.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { SMALL_SIZES } from '../../ops/bert/bert.fixture.ts';
import { LateTurns } from '../late/late-turns.ts';
import { writeSmallBert } from './bert.fixture.ts';
import { loadBert } from './bert.ts';
import type { BertOptions } from './encoder-options.ts';
import { createEncoderSource, encoderOptions, findEncoderFiles } from './registry.ts';
import { TokenStore } from './token-cache.ts';
import { encodeTokenWeights, readTokenWeights, type TokenWeights } from './token-weights.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-token-weights-'));
const model = join(root, 'model');
const path = join(root, 'tokens.safetensors');
const D = SMALL_SIZES.hidden_size;
const RANK = 3;
const random = createRandom(5, 'token weights');
const draw = (count: number, scale = 1) => Float32Array.from({ length: count }, () => scale * random.drawNormal());
const weights: TokenWeights = {
  dimension: D,
  up: draw(D * RANK),
  down: draw(RANK * D),
  gate: draw(D),
  provenance: {
    ...{ settings: { rank: RANK }, dataHash: 'abc', seed: 3, commit: 'def', backend: 'wasm' },
    ...{ trainingClusters: ['c1'], trainingContents: ['123'] },
  },
};
const parse = (more: object = {}) =>
  encoderOptions.parse({ encoder: 'bert', model, pooling: 'mean', ...more }) as BertOptions;

beforeAll(async () => {
  await useBackend('wasm');
  writeSmallBert(model);
  writeFileSync(path, encodeTokenWeights(weights));
});
afterAll(() => rmSync(root, { recursive: true }));

async function encodeTokens(more: object, text: string, kind: 'turn' | 'query'): Promise<TokenVectors> {
  const encoder = await loadBert(parse(more));
  try {
    const [found] = await encoder.encodeTokens([text], { owners: [{ kind, id: 'x' }] });
    return found as TokenVectors;
  } finally {
    encoder.dispose();
  }
}

test('a file has what was written, and no tensor stays', async () => {
  expect(readTokenWeights(path)).toEqual(weights);
  const before = tf.memory().numTensors;
  await encodeTokens({ tokenWeights: path }, 'Ann cooked', 'query');
  expect(tf.memory().numTensors).toBe(before);
});

test('a row becomes x (I + U V) of length 1; of a query, times exp(gate · x)', async () => {
  for (const kind of ['turn', 'query'] as const) {
    const frozen = await encodeTokens({}, 'Ann cooked', kind);
    const tuned = await encodeTokens({ tokenWeights: path }, 'Ann cooked', kind);
    expect(tuned.ids).toEqual(frozen.ids);
    for (let row = 0; row < frozen.ids.length; row++) {
      const x = Array.from(frozen.vectors.subarray(row * D, (row + 1) * D));
      const inner = Array.from({ length: RANK }, (_, r) =>
        x.reduce((sum, value, d) => sum + value * weights.up[d * RANK + r]!, 0),
      );
      const y = x.map((value, d) => value + inner.reduce((sum, part, r) => sum + part * weights.down[r * D + d]!, 0));
      const gate = Math.exp(x.reduce((sum, value, d) => sum + value * weights.gate[d]!, 0));
      const factor = (kind === 'query' ? gate : 1) / Math.hypot(...y);
      for (const [d, value] of y.entries()) expect(tuned.vectors[row * D + d]).toBeCloseTo(factor * value, 4);
    }
  }
});

test('vectors of whole texts are as without them, and the identity has the content of the file', async () => {
  const copy = join(root, 'copy.safetensors');
  writeFileSync(copy, encodeTokenWeights({ ...weights, gate: draw(D) }));
  const inputs = { fitTexts: [], seed: 1 };
  const identify = (more: object) => JSON.stringify(createEncoderSource(parse(more), inputs).identity);
  expect(new Set([{}, { tokenWeights: path }, { tokenWeights: copy }].map(identify)).size).toBe(3);
  const hash = findEncoderFiles({ encoder: 'bert' })?.hash(parse({ tokenWeights: path }));
  expect(() => identify({ tokenWeights: copy, hash })).toThrow('have changed');
  const [plain, tuned] = [await loadBert(parse()), await loadBert(parse({ tokenWeights: path }))];
  expect(await tuned.encode(['Ann'])).toEqual(await plain.encode(['Ann']));
  for (const encoder of [plain, tuned]) encoder.dispose();
});

test('the score weighs tokens of a question by the gate as well as by their idf', async () => {
  const texts = ['Ann cooked soup', 'soup', 'cooked', 'Ann: soup soup', 'cooked Ann'];
  const turns = texts.map((text, i) => ({
    ...{ id: `t${i}`, conversationId: 'c', parentId: null, timestamp: i, author: null, channel: null },
    text,
  }));
  const question = 'who cooked soup';
  const source = createEncoderSource(parse({ tokenWeights: path }), { fitTexts: [], seed: 1 });
  const store = await TokenStore.open(source, null);
  const late = new LateTurns(new Corpus(turns), store, { view: 'plain', author: true });
  let found: number[] = [];
  await late.score({ texts: [question], cutoffs: Int32Array.of(5) }, (_, scores) => {
    found = [...scores.get('zidf')];
  });

  const rowsOf = async (text: string, kind: 'turn' | 'query') => {
    const asked: TokenText = { text, owner: { kind, id: text }, context: [] };
    let rows: number[][] = [];
    let ids: number[] = [];
    await store.read([asked], (_, stored) => {
      ids = [...stored.ids];
      rows = ids.map((_id, t) =>
        Array.from(stored.values.subarray(t * D, (t + 1) * D), (value) => value * stored.scales[t]!),
      );
    });
    return { rows, ids };
  };
  const asked = await rowsOf(question, 'query');
  const seen = await Promise.all(texts.map((text) => rowsOf(text, 'turn')));
  const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, value, d) => sum + value * b[d]!, 0);
  const expected = new Float64Array(5);
  let total = 0;
  for (const [t, row] of asked.rows.entries()) {
    const maxima = seen.map(({ rows }) => Math.max(...rows.map((other) => dot(row, other))));
    const mean = maxima.reduce((a, b) => a + b) / 5;
    const deviation = Math.sqrt(maxima.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 5);
    const having = seen.filter(({ ids }) => ids.includes(asked.ids[t]!)).length;
    const weight = Math.hypot(...row) * Math.log(1 + (5 - having + 0.5) / (having + 0.5));
    total += weight;
    for (const [turn, value] of maxima.entries()) expected[turn]! += (weight * (value - mean)) / deviation;
  }
  for (const [turn, value] of expected.entries()) expect(found[turn]).toBeCloseTo(value / total, 3);
  expect(new Set(asked.rows.map((row) => Math.hypot(...row).toFixed(2))).size).toBeGreaterThan(1);
  store.dispose();
});

test('what does not fit is refused', async () => {
  const refuse = async (bytes: Uint8Array, error: new (...given: never[]) => Error, words: string) => {
    const other = join(root, 'other.safetensors');
    writeFileSync(other, bytes);
    const loaded = loadBert(parse({ tokenWeights: other }));
    await expect(loaded).rejects.toThrow(error);
    await expect(loaded).rejects.toThrow(words);
  };
  const small = { ...weights, dimension: 2, up: draw(6), down: draw(6), gate: draw(2) };
  await refuse(encodeTokenWeights(small), DimensionMismatchError, 'trained with model');
  const { tensors, metadata } = readCheckedSafetensors(path, 'write it again');
  const short = { ...tensors, down: { shape: [2, D], data: draw(2 * D) } };
  await refuse(encodeSafetensors({ tensors: short, metadata }), DimensionMismatchError, 'down of');
  await refuse(encodeSafetensors({ tensors: {}, metadata: {} }), ValidationError, 'token-tuning');
  await refuse(encodeSafetensors({ tensors, metadata: { tokens: '{' } }), ValidationError, 'is not JSON');
  const missing = parse({ tokenWeights: join(root, 'none.safetensors') });
  expect(() => createEncoderSource(missing, { fitTexts: [], seed: 1 }).identity).toThrow('none.safetensors');
});
