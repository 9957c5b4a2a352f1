import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, test } from 'vitest';
import { UnavailableError } from '../errors/errors.ts';
import { getActiveBackend } from './active-backend.ts';
import {
  activeBackend,
  BACKENDS,
  type BackendName,
  findLoadableBackend,
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

test('an optional peer that is missing is installed with --save-dev, without which npm installs nothing inside the project', () => {
  const { peerDependencies } = JSON.parse(
    readFileSync(join(import.meta.dirname, '..', '..', '..', 'package.json'), 'utf8'),
  );
  const probes = probeBackends().filter(({ name, available }) => !available && name !== 'cuda');
  for (const { reason } of probes) {
    const [, packages] = /: npm install --save-dev (.*)$/.exec(reason) ?? [];
    const names = packages?.split(' ').map((one) => one.slice(0, one.lastIndexOf('@'))) ?? [];
    expect([reason, names.length > 0 && names.every((name) => name in peerDependencies)]).toEqual([reason, true]);
  }
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
