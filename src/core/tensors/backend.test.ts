import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { UnavailableError } from '../errors/errors.ts';
import { getActiveBackend } from './active-backend.ts';
import {
  activeBackend,
  BACKENDS,
  type BackendName,
  findLoadableBackend,
  foreseeBackend,
  hasKernel,
  probeBackends,
  readsSynchronously,
  useBackend,
  withoutHooks,
} from './backend.ts';

/** Handlers of uncaught errors. */
const countHandlers = () => process.listenerCount('uncaughtException') + process.listenerCount('unhandledRejection');
/** Before any backend was loaded: wasm adds its own only the first time. */
const handlersAtFirst = countHandlers();

test('a probe says of every backend whether it is there, and why', () => {
  const probes = probeBackends();
  expect(probes.map(({ name }) => name)).toEqual([...BACKENDS]);
  expect(probes.every(({ reason }) => reason.length > 0)).toBe(true);
  expect(probes.filter(({ name }) => name === 'wasm' || name === 'cpu').every(({ available }) => available)).toBe(true);
});

test.each(['wasm', 'cpu'] as const)('%s loads and computes', async (name) => {
  expect(await useBackend(name)).toBe(name);
  expect(activeBackend()).toBe(name);
  expect(getActiveBackend()).toEqual({ name, reason: 'named in the command or the config', libtensorflow: undefined });
  const sum = tf.sum(tf.tensor1d([2, 3, 5]));
  expect((await sum.data())[0]).toBe(10);
  sum.dispose();
});

test('a kernel is looked for on the active backend', async () => {
  await useBackend('wasm');
  expect([hasKernel('SparseSegmentSum'), hasKernel('UnsortedSegmentSum')]).toEqual([true, false]);
  await useBackend('cpu');
  expect([hasKernel('SparseSegmentSum'), hasKernel('UnsortedSegmentSum')]).toEqual([true, true]);
  expect(readsSynchronously()).toBe(true);
});

test('loading wasm leaves no handler of uncaught errors behind', async () => {
  await useBackend('wasm');
  expect(countHandlers()).toBe(handlersAtFirst);
});

test('work that fails leaves no handler behind either', async () => {
  const failing = withoutHooks(async () => {
    process.on('uncaughtException', () => {});
    process.on('unhandledRejection', () => {});
    throw new Error('broken');
  });
  await expect(failing).rejects.toThrow(/^broken$/);
  expect(countHandlers()).toBe(handlersAtFirst);
});

test('auto makes a backend active that is there', async () => {
  const name = await useBackend('auto');
  expect(activeBackend()).toBe(name);
  expect(probeBackends().find((probe) => probe.name === name)?.available).toBe(true);
  const before = BACKENDS.slice(0, BACKENDS.indexOf(name));
  const rest = before.length === 0 ? '' : `; not available here: ${before.join(', ')}`;
  expect(getActiveBackend().reason).toBe(`auto: the first that loads${rest}`);
});

test('the backend of auto is foreseen where none comes before wasm that must be tried', async () => {
  const isInstalled = probeBackends().some(({ name, available }) => available && name !== 'wasm' && name !== 'cpu');
  expect(foreseeBackend('auto')).toBe(isInstalled ? null : await useBackend('auto'));
  for (const name of BACKENDS) expect(foreseeBackend(name)).toBe(name === 'wasm' || name === 'cpu' ? name : null);
});

test('a backend that is missing names the command that installs it', () => {
  for (const { name, available, reason } of probeBackends())
    if (!available) expect(reason).toMatch(new RegExp(`: ragpp backend install ${name}$`));
});

describe('in the folder of installed backends', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'ragpp-backends-'));
    vi.stubEnv('RAGPP_CACHE', root);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true });
  });

  function writePackage(backend: string, name: string, version: string): string {
    const folder = join(root, 'backends', backend, 'node_modules', name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version }));
    return folder;
  }

  const probeOne = (wanted: BackendName) => probeBackends().find(({ name }) => name === wanted);
  const isOwn = (name: BackendName) => {
    vi.stubEnv('RAGPP_CACHE', join(root, 'none'));
    const own = probeOne(name)?.available === true;
    vi.stubEnv('RAGPP_CACHE', root);
    return own;
  };

  test('a package counts once it has the version of TensorFlow.js here and its native library', ({ skip }) => {
    if (isOwn('node')) skip('the project has @tensorflow/tfjs-node itself');
    writePackage('node', '@tensorflow/tfjs-node', '4.21.0');
    expect(probeOne('node')?.reason).toMatch(
      /^@tensorflow\/tfjs-node of .* has version 4\.21\.0, where TensorFlow\.js has 4\.22\.0: ragpp backend install node$/,
    );
    const folder = writePackage('node', '@tensorflow/tfjs-node', '4.22.0');
    expect(probeOne('node')).toMatchObject({ available: false, reason: expect.stringContaining('no native library') });
    mkdirSync(join(folder, 'lib', 'napi-v8'), { recursive: true });
    writeFileSync(join(folder, 'lib', 'napi-v8', 'tfjs_binding.node'), '');
    expect(probeOne('node')).toEqual({ name: 'node', available: true, reason: folder });
    expect(probeOne('cuda')?.reason).not.toContain(folder);
  });

  test('all packages of a backend are needed', ({ skip }) => {
    if (isOwn('webgpu')) skip('the project has the packages of webgpu itself');
    const folder = writePackage('webgpu', '@tensorflow/tfjs-backend-webgpu', '4.22.0');
    expect(probeOne('webgpu')?.reason).toBe('webgpu is not installed: ragpp backend install webgpu');
    writePackage('webgpu', 'webgpu', '0.6.2');
    expect(probeOne('webgpu')).toEqual({ name: 'webgpu', available: true, reason: folder });
  });
});

describe('the first that loads', () => {
  const probe = (name: BackendName, available = true) => ({ name, available, reason: `${name} was looked for` });

  test('is taken where those before it do not, and none after it is tried', async () => {
    const tried: string[] = [];
    const load = async (name: string) => {
      tried.push(name);
      if (name === 'node') throw new Error('no library');
    };
    const probes = [probe('cuda', false), probe('node'), probe('wasm'), probe('cpu')];
    expect(await findLoadableBackend(probes, load)).toBe('wasm');
    expect(tried).toEqual(['node', 'wasm']);
  });

  test('is an error with the reasons of all where there is none', async () => {
    const load = (name: string) => Promise.reject(name === 'wasm' ? new Error('no memory') : 'refused');
    const failing = findLoadableBackend([probe('cuda', false), probe('wasm'), probe('cpu')], load);
    await expect(failing).rejects.toThrow(UnavailableError);
    await expect(failing).rejects.toThrow('cuda: cuda was looked for; wasm: no memory; cpu: refused');
  });
});

test('a named backend that is not there is an error, never another backend', async () => {
  const absent = probeBackends().find(({ available }) => !available);
  if (absent === undefined) return;
  await expect(useBackend(absent.name)).rejects.toThrow(UnavailableError);
  await expect(useBackend(absent.name)).rejects.toThrow(absent.name);
});
