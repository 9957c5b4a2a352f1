import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { writeSmallBert } from '../index/encoders/bert.fixture.ts';
import { KNOWN_MODELS } from '../index/encoders/models/known-models.ts';
import { PUBLIC_MODELS } from '../index/encoders/models/model-location.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-encoder-'));
const [cache, small] = [join(root, 'cache'), join(root, 'small')];
const before = process.env.RAGPP_CACHE;

beforeAll(() => {
  process.env.RAGPP_CACHE = cache;
  writeSmallBert(small);
});
afterEach(() => rmSync(cache, { recursive: true, force: true }));
afterAll(() => {
  rmSync(root, { recursive: true });
  if (before === undefined) delete process.env.RAGPP_CACHE;
  else process.env.RAGPP_CACHE = before;
});

const NOT_ADDED = [
  'not added: e5-small-v2, MIT, 23.6 MiB; ragpp encoder add e5-small-v2\n',
  'not added: all-minilm-l6-v2, Apache-2.0, 79.6 MiB; ragpp encoder add all-minilm-l6-v2\n',
].join('');

test('without models, list names the folder and the public models', async () => {
  expect(await runRagpp('encoder', 'list')).toEqual({
    code: 0,
    stdout: `no model in ${join(cache, 'models')}\n${NOT_ADDED}`,
    stderr: '',
  });
});

test('a folder is added under a name, listed with its source, and removed', async () => {
  const folder = join(cache, 'models', 'mine');
  const added = await runRagpp('encoder', 'add', small, '--name', 'mine');
  expect(added).toEqual({
    code: 0,
    stdout: `added mine: 0.0 MiB in ${folder}\na config uses it by embedding: { encoder: bert, model: mine }\n`,
    stderr: '',
  });
  const { stdout } = await runRagpp('encoder', 'list');
  const [header, row, ...rest] = stdout.split('\n');
  expect(header?.split(/ {2,}/)).toEqual(['model', 'MiB', 'licence', 'source', 'folder']);
  expect(row?.split(/ {2,}/)).toEqual(['mine', '0.0', 'not stated', small, folder]);
  expect(rest.join('\n')).toBe(NOT_ADDED);
  expect(await runRagpp('encoder', 'remove', 'mine')).toEqual({ code: 0, stdout: 'removed mine\n', stderr: '' });
  expect(readdirSync(join(cache, 'models'))).toEqual([]);
});

test.each([
  [['add', 'e5-smal-v2'], /no public model, folder or address: e5-smal-v2; did you mean e5-small-v2\?\n$/],
  [['remove', 'mine'], /no added model: mine; ragpp encoder list shows the models that are there\n$/],
  [['remove', '../cache'], /a name of a model has letters, digits, dots, _ and -.*: \.\.\/cache; choose another\n$/],
])('%j is an error', async (words, message) => {
  const { code, stderr } = await runRagpp('encoder', ...words);
  expect(code).toBe(1);
  expect(stderr).toMatch(message);
});

test('the help of add names every public model', async () => {
  const { stdout } = await runRagpp('encoder', 'add', '--help');
  expect(KNOWN_MODELS.names).toEqual(PUBLIC_MODELS);
  expect(stdout).toContain(`Public models: ${KNOWN_MODELS.names.join(', ')}.`);
});
