import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ConfigurationError,
  DimensionMismatchError,
  UnavailableError,
  ValidationError,
} from '../../core/errors/errors.ts';
import { writeSafetensors } from '../../core/files/safetensors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import { drawBert } from '../../ops/bert/bert.fixture.ts';
import { writeSmallBert } from './bert.fixture.ts';
import { loadBert } from './bert.ts';
import type { BertOptions } from './encoder-options.ts';
import { createEncoder, createEncoderSource, encoderOptions } from './registry.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-bert-'));
const model = join(root, 'model');
const parse = (more: object = {}) =>
  encoderOptions.parse({ encoder: 'bert', model, pooling: 'mean', ...more }) as BertOptions;

beforeAll(async () => {
  await useBackend('wasm');
  writeSmallBert(model);
});
afterAll(() => rmSync(root, { recursive: true }));

async function encode(more: object, texts: readonly string[], kind: 'turn' | 'query' = 'turn'): Promise<Float32Array> {
  const encoder = await createEncoder(parse(more));
  try {
    return await encoder.encode(texts, undefined, { owners: texts.map((_, i) => ({ kind, id: `${i}` })) });
  } finally {
    encoder.dispose();
  }
}

describe('an encoder over a folder of Hugging Face', () => {
  test('gives unit vectors that do not depend on the other texts, and leaves no tensor', async () => {
    const before = tf.memory().numTensors;
    const texts = ['Ann cooked soup', 'soup', 'Ann cooked soup: soup', 'soup Ann cooked'];
    const rows = await encode({}, texts);
    for (const [i, text] of texts.entries()) {
      const row = viewRow(rows, 12, i);
      expect(row.reduce((sum, value) => sum + value ** 2, 0)).toBeCloseTo(1, 6);
      const alone = await encode({}, [text]);
      for (const [d, value] of alone.entries()) expect(value).toBeCloseTo(row[d] as number, 5);
    }
    expect(tf.memory().numTensors).toBe(before);
  });

  test('writes prompts before texts by their kind, and cuts long texts', async () => {
    const prompts = { queryPrompt: 'query: ', passagePrompt: 'passage: ' };
    expect(await encode(prompts, ['soup'], 'query')).toEqual(await encode({}, ['query: soup']));
    expect(await encode(prompts, ['soup'])).toEqual(await encode({}, ['passage: soup']));
    expect(await encode({ maxTokens: 4 }, ['Ann cooked soup soup'])).toEqual(await encode({}, ['Ann cooked']));
    const long = await encode({}, ['soup '.repeat(40)]); // as many as there are positions
    expect(long).toEqual(await encode({}, ['soup '.repeat(7)]));
  });

  test('gives the vectors of tokens, the special ones marked', async () => {
    const encoder = await loadBert(parse());
    const [tokens] = await encoder.encodeTokens(['Ann cooked']);
    expect([...(tokens?.ids ?? [])]).toEqual([2, 4, 5, 3]);
    expect(tokens?.special).toEqual([true, false, false, true]);
    const first = viewRow(tokens?.vectors as Float32Array, 12, 0);
    expect(first.reduce((sum, value) => sum + value ** 2, 0)).toBeCloseTo(1, 6);
    encoder.dispose();
  });

  test('gives the tokens of a text that have seen the texts before it, of which the oldest are cut first', async () => {
    const encoder = await loadBert(parse({ passagePrompt: 'passage: ' }));
    const [plain, alone, after] = [
      await encoder.encodeTokens(['Ann cooked']),
      await encoder.encodeTokens(['Ann cooked'], { context: [[]] }),
      await encoder.encodeTokens(['Ann cooked'], { context: [['soup']] }),
    ].map(([tokens]) => tokens as NonNullable<typeof tokens>);
    expect([...(alone?.ids ?? [])]).toEqual([4, 5]);
    expect(alone?.special).toEqual([false, false]);
    expect(alone?.vectors).toEqual(plain?.vectors.slice(3 * 12, 5 * 12)); // after [CLS] passage :
    expect(after?.ids).toEqual(alone?.ids);
    expect(after?.vectors).not.toEqual(alone?.vectors);
    // 9 positions: [CLS] passage : … Ann cooked [SEP] leave 3 for what was said before.
    const [long] = await encoder.encodeTokens(['Ann cooked'], { context: [['soup soup', 'soup soup']] });
    const [cut] = await encoder.encodeTokens(['Ann cooked'], { context: [['soup soup']] });
    expect(long?.vectors).toEqual(cut?.vectors);
    const [span] = encoder.listSpans(['Ann cooked'], { context: [['soup']] });
    expect(span?.ids.slice(span.start, span.end)).toEqual([...(cut?.ids ?? [])]);
    expect(span?.ids.length).toBeGreaterThan(span!.end);
    await expect(encoder.encodeTokens(['soup', 'Ann'], { context: [[]] })).rejects.toThrow('one for each of 2');
    encoder.dispose();
  });

  test('has the content of its files in its identity', () => {
    const identify = (folder: string) =>
      createEncoderSource(parse({ model: folder }), { fitTexts: [], seed: 1 }).identity;
    const copy = join(root, 'copy');
    cpSync(model, copy, { recursive: true });
    expect(identify(copy)).toEqual(identify(model));
    writeSafetensors(join(copy, 'model.safetensors'), { tensors: drawBert(8) as never, metadata: {} });
    expect(identify(copy)).not.toEqual(identify(model));
  });
});

test('what is no such model is refused', async () => {
  await expect(loadBert(parse({ model: join(root, 'none') }))).rejects.toThrow(UnavailableError);
  await expect(loadBert(parse({ pooling: null }))).rejects.toThrow('set no pooling; set pooling in the options');
  await expect(loadBert(parse({ dimension: 13 }))).rejects.toThrow(DimensionMismatchError);
  for (const [config, error] of [
    [{ model_type: 'distilbert' }, ConfigurationError],
    [{ hidden_act: 'relu' }, ConfigurationError],
    [{ position_embedding_type: 'relative_key' }, ConfigurationError],
    [{ num_hidden_layers: 3 }, ValidationError],
  ] as const) {
    const folder = join(root, 'other');
    writeSmallBert(folder, config);
    await expect(loadBert(parse({ model: folder }))).rejects.toThrow(error);
  }
});

const real = fileURLToPath(new URL('../../../../shared/models/e5-small-v2', import.meta.url));
describe.skipIf(!existsSync(real))(`e5-small-v2 (skipped where there is no ${real})`, () => {
  interface Case {
    readonly text: string;
    readonly ids: readonly number[];
    readonly vector: readonly number[];
  }

  test('gives the pieces and vectors of an independent program', async () => {
    const { cases } = JSON.parse(readFileSync(join(real, 'cases.json'), 'utf8')) as { readonly cases: readonly Case[] };
    const encoder = await loadBert(parse({ model: real }));
    const texts = cases.map(({ text }) => text);
    const rows = await encoder.encode(texts);
    const tokens = await encoder.encodeTokens(texts);
    encoder.dispose();
    for (const [i, { ids, vector }] of cases.entries()) {
      expect([...(tokens[i]?.ids ?? [])]).toEqual(ids);
      const row = viewRow(rows, 384, i);
      expect(Math.max(...vector.map((value, d) => Math.abs(value - (row[d] as number))))).toBeLessThan(1e-5);
    }
  });
});
