import { Command } from 'commander';
import { afterEach, describe, expect, test } from 'vitest';
import { BACKENDS } from '../../core/tensors/backend.ts';
import { cacheOption, collect, createBackendOption } from './options.ts';

const kept = process.env.RAGPP_CACHE;
afterEach(() => {
  if (kept === undefined) delete process.env.RAGPP_CACHE;
  else process.env.RAGPP_CACHE = kept;
});

const parseSharedFlags = (...argv: string[]) =>
  new Command()
    .addOption(createBackendOption())
    .addOption(cacheOption())
    .option('--set <x>', '', collect, [])
    .exitOverride()
    .configureOutput({ writeErr() {} })
    .parse(argv, { from: 'user' })
    .opts();

describe('the cache folder', () => {
  test('is what is asked for, else what the environment says, else its default', () => {
    delete process.env.RAGPP_CACHE;
    expect(parseSharedFlags().cache).toBe('.ragpp/cache');
    process.env.RAGPP_CACHE = '/from/environment';
    expect(parseSharedFlags().cache).toBe('/from/environment');
    expect(parseSharedFlags('--cache', '/asked').cache).toBe('/asked');
  });
});

test('a backend is one of those that there are, and none unless asked for', () => {
  expect(parseSharedFlags().backend).toBeUndefined();
  for (const name of ['auto', ...BACKENDS]) expect(parseSharedFlags('--backend', name).backend).toBe(name);
  expect(() => parseSharedFlags('--backend', 'tpu')).toThrow(/Allowed choices are auto, cuda, node, webgpu, wasm, cpu/);
});

test('what may be given several times keeps its order', () => {
  expect(parseSharedFlags('--set', 'a=1', '--set', 'b=2', '--set', 'a=3').set).toEqual(['a=1', 'b=2', 'a=3']);
});
