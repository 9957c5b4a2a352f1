import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { UnavailableError, ValidationError } from '../../../core/errors/errors.ts';
import { ignoreProgress } from '../../../core/terminal/progress.ts';
import { downloadModel } from './model-download.ts';
import { locateModel } from './model-files.ts';

const modelsFolder = mkdtempSync(join(tmpdir(), 'model-download-'));
const choice = { model: 'some/model', revision: 'refs/pr/1', modelsFolder, dtype: 'fp32' } as const;
const folder = join(modelsFolder, 'some', 'model', 'refs--pr--1');

const FILES: Readonly<Record<string, string>> = {
  'modules.json': JSON.stringify([{ path: '1_Pooling', type: 'sentence_transformers.models.Pooling' }]),
  '1_Pooling/config.json': '{"pooling_mode_mean_tokens": true}',
  'tokenizer.json': '{}',
  'onnx/model.onnx': 'w'.repeat(100_000),
  'config.json': '{}',
};

let server: Server;
let served: Readonly<Record<string, string>> = FILES;
let asked: { readonly path: string; readonly token: string | undefined }[] = [];
const before = { ...process.env };

beforeAll(async () => {
  server = createServer((request, response) => {
    const name = (request.url as string).replace('/some/model/resolve/refs%2Fpr%2F1/', '');
    asked.push({ path: name, token: request.headers.authorization });
    const body = served[name];
    if (body === 'broken') {
      response.writeHead(200, { 'content-length': 10 });
      response.write('short');
      return void response.destroy();
    }
    response.writeHead(body === undefined ? 404 : 200, body === undefined ? {} : { 'content-length': body.length });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.env.HF_ENDPOINT = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterEach(() => {
  rmSync(modelsFolder, { recursive: true, force: true });
  served = FILES;
  asked = [];
  delete process.env.HF_TOKEN;
});
afterAll(async () => {
  process.env.HF_ENDPOINT = before.HF_ENDPOINT ?? '';
  if (before.HF_ENDPOINT === undefined) delete process.env.HF_ENDPOINT;
  if (before.HF_TOKEN !== undefined) process.env.HF_TOKEN = before.HF_TOKEN;
  await new Promise((resolve) => server.close(resolve));
});

describe('a download', () => {
  test('brings every file that the model has, the main one last, and is not repeated', async () => {
    process.env.HF_TOKEN = 'of-the-user';
    expect(await downloadModel(choice, ignoreProgress)).toBe(folder);
    for (const [name, content] of Object.entries(FILES)) expect(readFileSync(join(folder, name), 'utf8')).toBe(content);
    expect(readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith('.partial'))).toEqual([]);
    expect(asked.at(-1)?.path).toBe('config.json');
    expect(asked.every(({ token }) => token === 'Bearer of-the-user')).toBe(true);
    const count = asked.length;
    await downloadModel(choice, ignoreProgress);
    expect(asked).toHaveLength(count);
  });

  test.each([
    ['lacks the weights', 'onnx/model.onnx', undefined, /onnx\/model\.onnx: status 404; check the name, the revision/],
    ['breaks off', 'onnx/model.onnx', 'broken', /onnx\/model\.onnx: .*; check/],
  ])('that %s is an error, and is not taken for finished', async (_, name, content, message) => {
    const { [name]: __, ...others } = FILES;
    served = content === undefined ? others : { ...others, [name]: content };
    const error = await downloadModel(choice, ignoreProgress).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnavailableError);
    expect((error as Error).message).toMatch(message);
    expect(existsSync(join(folder, 'config.json'))).toBe(false);
    served = FILES;
    await downloadModel(choice, ignoreProgress);
    expect(readFileSync(join(folder, name), 'utf8')).toBe(FILES[name]);
  });
});

test('a token that no header can hold is an error without it', async () => {
  process.env.HF_TOKEN = 'hf-of\nthe-user';
  const error = (await downloadModel(choice, ignoreProgress).catch((reason: unknown) => reason)) as Error;
  expect(error).toBeInstanceOf(ValidationError);
  expect(error.message).toMatch(/^the environment variable HF_TOKEN has a line break or .*; export the key again$/);
  expect(asked).toEqual([]);
});

test.each(['../../../../escaped', '/escaped', 'a/../../escaped', '..\\escaped', 'C:\\escaped'])(
  'a module at %s is refused before anything is written there',
  async (path) => {
    served = { ...FILES, 'modules.json': JSON.stringify([{ path, type: 'sentence_transformers.models.Pooling' }]) };
    const error = await downloadModel(choice, ignoreProgress).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as Error).message).toContain(`modules.json names a module outside the folder: ${path}; use another`);
    expect(readdirSync(folder)).toEqual(['modules.json']);
  },
);

test.each(['./models/none', '/models/none', 'none', '../x', 'a/b/c', '../../..'])(
  '%s is no name of the hub',
  (model) => {
    expect(() => locateModel({ model, revision: 'main', modelsFolder })).toThrow(ValidationError);
    expect(() => locateModel({ model, revision: 'main', modelsFolder })).toThrow(
      /give a folder, or the name of a model/,
    );
  },
);
