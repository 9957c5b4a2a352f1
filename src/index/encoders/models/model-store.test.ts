import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ChecksumMismatchError, UnavailableError } from '../../../core/errors/errors.ts';
import { findModelsFolder, locateModelFolder } from './model-location.ts';
import { listModels, removeModel, storeModel } from './model-store.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-model-store-'));
const before = process.env.RAGPP_CACHE;
const models = join(root, 'models');

beforeAll(() => {
  process.env.RAGPP_CACHE = root;
});
afterEach(() => rmSync(models, { recursive: true, force: true }));
afterAll(() => {
  rmSync(root, { recursive: true });
  if (before === undefined) delete process.env.RAGPP_CACHE;
  else process.env.RAGPP_CACHE = before;
});

const model = { name: 'm', source: 'a test' };
async function write(folder: string): Promise<null> {
  writeFileSync(join(folder, 'config.json'), '{}');
  return null;
}
async function fail(folder: string, around: string): Promise<null> {
  await write(folder);
  writeFileSync(join(around, 'model.jar.partial'), 'half');
  throw new Error('the network is gone');
}

test('without RAGPP_CACHE models are in the working directory', () => {
  delete process.env.RAGPP_CACHE;
  expect(findModelsFolder()).toBe(join('.ragpp', 'models'));
  process.env.RAGPP_CACHE = root;
});

test('a model is found once it is whole, and its name is no path', async () => {
  const stored = await storeModel(model, (folder) => {
    expect(locateModelFolder('m')).toBeNull();
    return write(folder);
  });
  expect(stored).toMatchObject({ ...model, licence: null, folder: join(models, 'm') });
  expect(locateModelFolder('m')).toBe(join(models, 'm'));
  expect(locateModelFolder('./m')).toBeNull();
});

test('what failed leaves its downloads, which the next attempt finds', async () => {
  await expect(storeModel(model, fail)).rejects.toThrow('the network is gone');
  expect(readdirSync(models)).toEqual(['m.partial']);
  expect(readdirSync(join(models, 'm.partial'))).toEqual(['model.jar.partial']);
  expect(listModels()).toEqual([]);
  await storeModel(model, (folder, around) => {
    expect(existsSync(join(around, 'model.jar.partial'))).toBe(true);
    return write(folder);
  });
  expect(readdirSync(models)).toEqual(['m']);
});

test('files of a process that was killed are no part of the next attempt', async () => {
  mkdirSync(join(models, 'm.partial', 'models', 'm'), { recursive: true });
  writeFileSync(join(models, 'm.partial', 'models', 'm', 'modules.json'), '[]');
  const { folder } = await storeModel(model, write);
  expect(readdirSync(folder)).toEqual(['config.json', 'ragpp-model.json']);
});

test('remove deletes what an attempt left', async () => {
  await expect(storeModel(model, fail)).rejects.toThrow();
  expect(removeModel('m')).toBe(true);
  expect(readdirSync(models)).toEqual([]);
  expect(removeModel('m')).toBe(false);
});

test('one attempt at a time adds a model of a name, and none removes it meanwhile', async () => {
  await storeModel(model, async (folder) => {
    await expect(storeModel(model, write)).rejects.toThrow(UnavailableError);
    expect(() => removeModel('m')).toThrow(UnavailableError);
    return write(folder);
  });
  expect(listModels()).toHaveLength(1);
});

test('other folders are no models, and are not removed', async () => {
  mkdirSync(join(models, 'intfloat', 'e5', 'main'), { recursive: true });
  await storeModel(model, write);
  expect(listModels().map(({ name }) => name)).toEqual(['m']);
  expect(removeModel('intfloat')).toBe(false);
  expect(existsSync(join(models, 'intfloat', 'e5', 'main'))).toBe(true);
});

test('a damaged note is an error that says what to delete', async () => {
  const { folder } = await storeModel(model, write);
  writeFileSync(join(folder, 'ragpp-model.json'), '{');
  expect(() => listModels()).toThrow(ChecksumMismatchError);
  expect(() => listModels()).toThrow(`delete ${folder} and add the model again`);
});
