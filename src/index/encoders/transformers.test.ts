import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DimensionMismatchError, UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import { ignoreProgress } from '../../core/terminal/progress.ts';
import type { TextOwner } from '../../model/encoder.ts';
import { loadBert } from './bert.ts';
import type { BertOptions, TransformersOptions } from './encoder-options.ts';
import { addModel } from './models/add-model.ts';
import { createEncoderSource, encoderOptions } from './registry.ts';
import type { PooledEncoder } from './token-encoder.ts';
import { findPeerVersion } from './transformers/model-files.ts';
import { loadTransformers } from './transformers.ts';

const model = fileURLToPath(new URL('../../../../shared/models/all-minilm-l6-v2', import.meta.url));

function findPeer(): string | null {
  try {
    return findPeerVersion();
  } catch {
    return null;
  }
}

const lacking =
  findPeer() === null ? 'no @huggingface/transformers: see .ci/encoders' : existsSync(model) ? null : `no ${model}`;
if (lacking !== null && process.env.RAGPP_TEST_ENCODERS === '1') throw new Error(lacking);

const parse = (more: object = {}) =>
  encoderOptions.parse({ encoder: 'transformers', model, ...more }) as TransformersOptions;

test.skipIf(findPeer() !== null)('without the package, the error says how to install it', async () => {
  const message =
    'encoder transformers is not available: @huggingface/transformers is not installed: ' +
    'npm install --onnxruntime-node-install=skip @huggingface/transformers@4';
  await expect(loadTransformers(parse())).rejects.toThrow(message);
  expect(() => createEncoderSource(parse(), { fitTexts: [], seed: 1 }).identity).toThrow(UnavailableError);
});

describe.skipIf(lacking !== null)(`encoder transformers${lacking === null ? '' : ` (skipped: ${lacking})`}`, () => {
  const root = mkdtempSync(join(tmpdir(), 'transformers-'));
  let encoder: PooledEncoder;
  beforeAll(async () => {
    await useBackend('wasm');
    encoder = await loadTransformers(parse());
  });
  afterAll(() => {
    encoder.dispose();
    rmSync(root, { recursive: true });
  });

  const own = <T>(many: readonly T[], kind: TextOwner['kind']) => many.map((_, i) => ({ kind, id: `${i}` }));
  const worst = (got: Float32Array, expected: ArrayLike<number>) => {
    expect(got).toHaveLength(expected.length);
    return got.reduce((most, value, i) => Math.max(most, Math.abs(value - (expected[i] as number))), 0);
  };
  async function encodeOnce(more: object, texts: readonly string[], kind: TextOwner['kind'] = 'turn') {
    const other = await loadTransformers(parse(more));
    try {
      return await other.encode(texts, undefined, { owners: own(texts, kind) });
    } finally {
      other.dispose();
    }
  }

  test('agrees with sentence-transformers in Python', async () => {
    const { texts, vectors } = JSON.parse(readFileSync(join(model, 'cases.json'), 'utf8')) as {
      texts: string[];
      vectors: number[][];
    };
    expect(texts.length).toBeGreaterThan(7);
    expect(worst(await encoder.encode(texts), vectors.flat())).toBeLessThan(1e-5);
  });

  test('reads its settings from the files of the model', () => {
    expect(encoder.dimension).toBe(384);
    expect(encoder.settings).toEqual({
      pooling: 'mean',
      includePrompt: true,
      maxTokens: 256,
      lowerCase: false,
      normalised: true,
      prompts: { query: '', turn: '' },
    });
    const source = createEncoderSource(parse(), { fitTexts: ['of no influence'], seed: 3 });
    expect(encoder.identity).toEqual({ ...source.identity, dimension: 384 });
    expect(Object.keys(source.identity.model as object).sort()).toEqual([
      '1_Pooling/config.json',
      'config.json',
      'config_sentence_transformers.json',
      'modules.json',
      'onnx/model.onnx',
      'sentence_bert_config.json',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
  });

  test('a text alone has the vector that it has among others', async () => {
    const texts = ['soup', 'a long walk through the garden', 'bread', '', 'soup'];
    const rows = await encoder.encode(texts);
    for (const [i, text] of texts.entries())
      expect(worst(await encoder.encode([text]), viewRow(rows, 384, i))).toBeLessThan(1e-6);
    expect(await encoder.encode([])).toHaveLength(0);
  });

  test('prompts are written before queries and before turns', async () => {
    const prompts = { queryPrompt: 'query: ', passagePrompt: 'passage: ' };
    const both = await encoder.encode(['query: red soup', 'passage: red soup']);
    expect(worst(await encodeOnce(prompts, ['red soup'], 'query'), viewRow(both, 384, 0))).toBeLessThan(1e-6);
    expect(worst(await encodeOnce(prompts, ['red soup'], 'turn'), viewRow(both, 384, 1))).toBeLessThan(1e-6);
    expect(worst(viewRow(both, 384, 0), viewRow(both, 384, 1))).toBeGreaterThan(0.01);
  });

  test('a smaller dimension is the start of the vector, scaled to length 1', async () => {
    const whole = (await encoder.encode(['red soup'])).subarray(0, 61);
    const length = Math.hypot(...whole);
    const cut = await encodeOnce({ dimension: 61 }, ['red soup']);
    expect(
      worst(
        cut,
        whole.map((value) => value / length),
      ),
    ).toBeLessThan(1e-6);
    await expect(loadTransformers(parse({ dimension: 385 }))).rejects.toThrow(DimensionMismatchError);
  });

  test('a text beyond the maximal length is cut, and keeps its last special token', async () => {
    const cut = await encodeOnce({ maxTokens: 5 }, ['red soup and bread with butter']);
    expect(worst(cut, await encoder.encode(['red soup and']))).toBeLessThan(1e-6);
    await expect(encodeOnce({ maxTokens: 2 }, ['red soup'])).rejects.toThrow(ValidationError);
  });

  test('the pooling of the options is used', async () => {
    const [tokens] = await encoder.encodeTokens(['red soup']);
    const first = (tokens as { vectors: Float32Array }).vectors.subarray(0, 384);
    expect(worst(await encodeOnce({ pooling: 'cls' }, ['red soup']), first)).toBeLessThan(1e-6);
  });

  test('gives the vectors of tokens', async () => {
    const texts = ['hello world', 'a garden', 'hello world'];
    const results = await encoder.encodeTokens(texts);
    expect([...results[0]!.ids]).toEqual([101, 7592, 2088, 102]);
    expect(results[0]!.special).toEqual([true, false, false, true]);
    expect(results[2]).toEqual(results[0]);
    for (const { ids, vectors } of results) {
      expect(vectors).toHaveLength(ids.length * 384);
      for (let t = 0; t < ids.length; t++) expect(Math.hypot(...viewRow(vectors, 384, t))).toBeCloseTo(1, 5);
    }
  });

  test('encoder bert gives the same vectors of tokens, alone and in a context', async () => {
    process.env.RAGPP_CACHE = root;
    try {
      await addModel(model, { name: 'twin', progress: ignoreProgress, announce: () => {} });
      const bert = await loadBert(encoderOptions.parse({ encoder: 'bert', model: 'twin' }) as BertOptions);
      const texts = ['Yes, two.', 'Ann baked bread for the wolves of the north, in 1999.', 'naïve Ωmega'];
      const context = [['How many dogs has Ann?'], [], ['What is this?', 'A word.']];
      for (const options of [{}, { context }]) {
        const [ours, theirs] = [await bert.encodeTokens(texts, options), await encoder.encodeTokens(texts, options)];
        for (const [i, { ids, special, vectors }] of theirs.entries()) {
          expect([ours[i]?.ids, ours[i]?.special]).toEqual([ids, special]);
          expect(worst(vectors, ours[i]?.vectors as Float32Array)).toBeLessThan(1e-4);
        }
      }
      bert.dispose();
    } finally {
      delete process.env.RAGPP_CACHE;
    }
  });

  test('a signal stops it, and a disposed one is an error', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(encoder.encode(['a'], undefined, { signal })).rejects.toThrow('enough');
    const other = await loadTransformers(parse());
    other.dispose();
    await expect(other.encode(['a'])).rejects.toThrow(/^encoder was disposed: transformers; load a new encoder$/);
  });

  test.each([
    [{ dtype: 'q8' }, /no onnx\/model_quantized\.onnx for dtype q8; choose the dtype of model\.onnx$/],
    [
      { model: 'some/model', modelsFolder: '/nowhere' },
      /model some\/model is not available: it is not in \/nowhere\/some\/model\/main; set download: true/,
    ],
  ])('%j is an error that says what to do', async (more, message) => {
    await expect(loadTransformers(parse(more))).rejects.toThrow(message);
  });

  test('a model of the hub is downloaded once, and is the same as its folder', async () => {
    let requests = 0;
    const server = createServer((request, response) => {
      requests++;
      const path = join(model, (request.url as string).replace('/some/minilm/resolve/main/', ''));
      if (!existsSync(path)) return void response.writeHead(404).end();
      response.writeHead(200, { 'content-length': statSync(path).size });
      createReadStream(path).pipe(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const endpoint = process.env.HF_ENDPOINT;
    process.env.HF_ENDPOINT = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const hub = { model: 'some/minilm', download: true, modelsFolder: root };
      const rows = await encodeOnce(hub, ['red soup']);
      expect(rows).toEqual(await encoder.encode(['red soup']));
      const asked = requests;
      await encodeOnce(hub, ['red soup']);
      await encodeOnce({ ...hub, download: false }, ['red soup']);
      expect(requests).toBe(asked);
    } finally {
      if (endpoint === undefined) delete process.env.HF_ENDPOINT;
      else process.env.HF_ENDPOINT = endpoint;
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
