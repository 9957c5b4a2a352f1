import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import type { TokenVectors } from '../../model/encoder.ts';
import type { TokenEncoder } from './token-encoder.ts';
import { loadUseLite } from './use-lite.ts';

const PAIRS = [
  ['How old are you?', 'What is your age?'],
  ['My phone is broken.', 'Your cellphone does not work any more.'],
  ['Will it snow tomorrow?', 'Hurricanes have hit the coast recently.'],
] as const;
const TEXTS = [...PAIRS.flat(), 'a much longer text, so that the batch has to pad the others with nothing at all', ''];

function cosine(rows: Float32Array, i: number, j: number): number {
  let sum = 0;
  for (let d = 0; d < 512; d++) sum += rows[i * 512 + d]! * rows[j * 512 + d]!;
  return sum;
}

test.runIf(TEST_BACKENDS.includes('webgpu'))('webgpu is refused', async () => {
  await useBackend('webgpu');
  await expect(loadUseLite()).rejects.toThrow(UnavailableError);
});

describe.each(TEST_BACKENDS.filter((name) => name !== 'webgpu'))('use-lite on %s', (backend) => {
  let encoder: TokenEncoder;
  let before: number;
  let rows: Float32Array;

  beforeAll(async () => {
    await useBackend(backend);
    before = tf.memory().numTensors;
    encoder = await loadUseLite({ maxTokens: 31, batchSize: 5 });
    rows = await encoder.encode(TEXTS);
  });

  afterAll(() => {
    encoder.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });

  test('paraphrases are nearer than texts about other things', () => {
    for (let pair = 0; pair < PAIRS.length; pair++) {
      for (let other = 0; other < PAIRS.length; other++) {
        if (other === pair) continue;
        expect(cosine(rows, 2 * pair, 2 * pair + 1)).toBeGreaterThan(cosine(rows, 2 * pair, 2 * other + 1));
      }
    }
  });

  test('rows have length 1, a text without words is a zero row', () => {
    expect(encoder.dimension).toBe(512);
    expect(rows.length).toBe(TEXTS.length * 512);
    for (let i = 0; i < TEXTS.length - 1; i++) expect(cosine(rows, i, i)).toBeCloseTo(1, 5);
    expect(cosine(rows, TEXTS.length - 1, TEXTS.length - 1)).toBe(0);
  });

  test('a token has length 1, sees the texts before its own, and has no other vector in a batch', async () => {
    const [own, other] = ['How old are you?', 'I am ten.'] as const;
    const context = [[], [own], [`${'far away '.repeat(20)}${own}`]];
    const [alone, after, cut] = await encoder.encodeTokens([other, other, other], { context });
    expect([...after!.ids]).toEqual([...alone!.ids]);
    expect(alone!.vectors).toHaveLength(512 * alone!.ids.length);
    for (let token = 0; token < alone!.ids.length; token++) {
      expect(cosine(alone!.vectors, token, token)).toBeCloseTo(1, 5);
      expect(
        cosine(Float32Array.of(...alone!.vectors, ...after!.vectors), token, alone!.ids.length + token),
      ).toBeLessThan(0.999);
    }
    expect(cut!.vectors).not.toEqual(after!.vectors);
    const [single] = await encoder.encodeTokens([other], { context: [[own]] });
    for (const [i, value] of single!.vectors.entries()) expect(value).toBeCloseTo(after!.vectors[i]!, 5);
    const [plain, empty] = await encoder.encodeTokens([other, '']);
    for (const [i, value] of plain!.vectors.entries()) expect(value).toBeCloseTo(alone!.vectors[i]!, 5);
    expect(empty!.vectors).toHaveLength(0);
    await expect(encoder.encodeTokens([other], { context: [] })).rejects.toThrow(ValidationError);
  });

  test('a text alone has the vector that it has in a batch', async () => {
    // libtensorflow multiplies matrices of other sizes in another order; seen: 2.5e-7.
    const tolerance = backend === 'wasm' || backend === 'cpu' ? 0 : 1e-6;
    for (const i of [0, 3, 6]) {
      const alone = await encoder.encode([TEXTS[i]!]);
      const differences = alone.map((value, d) => Math.abs(value - rows[i * 512 + d]!));
      expect(Math.max(...differences)).toBeLessThanOrEqual(tolerance);
    }
  });

  test('encoding leaves no tensor', async () => {
    const held = tf.memory().numTensors;
    await encoder.encode(TEXTS.slice(0, 3));
    expect(tf.memory().numTensors).toBe(held);
  });
});

test('a text beyond the 128 pieces that the graph reads has the tokens of its start, and in a context those of itself', async () => {
  await useBackend('wasm');
  const encoder = await loadUseLite();
  const words = Array.from({ length: 90 }, (_, i) => ['bread', 'wolves', 'telescope', 'law'][(i * i) % 4]);
  const [long, start] = [words.join(' '), words.slice(0, 40).join(' ')];
  const [whole, alone] = await encoder.encodeTokens([long, start]);
  expect(whole?.ids).toHaveLength(128);
  expect(whole?.vectors).toHaveLength(128 * 512);
  expect([...(whole as TokenVectors).ids.subarray(0, 40)]).toEqual([...(alone as TokenVectors).ids.subarray(0, 40)]);
  // The words before it do not fit: the oldest are cut, not those of the text.
  const [cut, same] = await encoder.encodeTokens([start, start], { context: [[long], [long.slice(-120)]] });
  expect(cut?.ids).toEqual(alone?.ids);
  const size = (alone as TokenVectors).ids.length;
  const mean = (tokens: TokenVectors) =>
    Array.from({ length: size }, (_, t) =>
      cosine(
        Float32Array.of(...viewRow(tokens.vectors, 512, t), ...viewRow((alone as TokenVectors).vectors, 512, t)),
        0,
        1,
      ),
    ).reduce((a, b) => a + b, 0) / size;
  expect(mean(cut as TokenVectors)).toBeGreaterThan(0.7); // each token with itself, alone
  expect(mean(cut as TokenVectors)).toBeCloseTo(mean(same as TokenVectors), 1);
  const [full] = await encoder.encodeTokens([long], { context: [[start]] });
  expect(full).toEqual(whole); // there is no room for a context
  encoder.dispose();
});

test('words beyond the limit have no influence', async () => {
  await useBackend('wasm');
  const encoder = await loadUseLite({ maxTokens: 3, batchSize: 2 });
  const rows = await encoder.encode(['Hello, how are you?', 'Hello, how is she?', 'Hello there']); // three pieces: ▁H ello ,
  expect(cosine(rows, 0, 1)).toBeCloseTo(1, 5);
  expect(cosine(rows, 0, 2)).toBeLessThan(0.999);
  encoder.dispose();
  await expect(encoder.encode(['Hello'])).rejects.toThrow(ValidationError);
});
