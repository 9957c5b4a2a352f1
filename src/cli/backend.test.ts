import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { isProgramFound } from '../core/backends/external-program.ts';
import { INSTALLABLE } from '../core/tensors/active-backend.ts';
import { probeBackends } from '../core/tensors/backend.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-backend-'));
const backends = join(root, 'backends');
beforeEach(() => vi.stubEnv('RAGPP_CACHE', root));
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(backends, { recursive: true, force: true });
});
afterAll(() => rmSync(root, { recursive: true }));

const listAbsent = () =>
  probeBackends()
    .filter(({ available }) => !available)
    .map(({ name }) => `not installed: ${name}; ragpp backend install ${name}\n`)
    .join('');

/** A backend whose package throws when it is loaded. */
function writeBroken(name: 'node'): string {
  const folder = join(backends, name);
  const place = join(folder, 'node_modules', '@tensorflow', 'tfjs-node');
  mkdirSync(join(place, 'lib', 'napi-v8'), { recursive: true });
  writeFileSync(join(place, 'lib', 'napi-v8', 'tfjs_binding.node'), '');
  writeFileSync(join(place, 'package.json'), JSON.stringify({ name: '@tensorflow/tfjs-node', version: '4.22.0' }));
  writeFileSync(join(place, 'index.js'), "throw new Error('no library');");
  const packages = [{ name: '@tensorflow/tfjs-node', version: '4.22.0', integrity: 'sha512-x' }];
  writeFileSync(join(folder, 'ragpp-backend.json'), JSON.stringify({ name, packages, wheels: [], node: 'v20.0.0' }));
  return folder;
}

test('without backends, list names the folder and what can be installed', async () => {
  const { code, stdout } = await runRagpp('backend', 'list');
  expect([code, stdout.split('\n')[0]]).toEqual([0, `no backend in ${backends}`]);
  expect(stdout).toContain(listAbsent());
});

test('a backend is listed with its versions and whether it loads, and removed', async ({ skip }) => {
  if (!listAbsent().includes('node')) skip('the project has @tensorflow/tfjs-node itself');
  const folder = writeBroken('node');
  const { stdout } = await runRagpp('backend', 'list');
  const [header, row, fault] = stdout.split('\n');
  expect(header?.split(/ {2,}/)).toEqual(['backend', 'computes with', 'MiB', 'versions', 'folder']);
  expect(row?.split(/ {2,}/)).toEqual(['node', 'does not load', '0', 'tfjs-node 4.22.0', folder]);
  expect(fault).toMatch(/^node does not load: no library$/);
  expect(await runRagpp('backend', 'install', 'node')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/backend node is installed: .*; to make it again, run ragpp backend remove node/),
  });
  expect(await runRagpp('backend', 'remove', 'node')).toEqual({ code: 0, stdout: 'removed node\n', stderr: '' });
  expect(readdirSync(backends)).toEqual([]);
});

test.each([
  [
    ['install', 'torch'],
    2,
    /value 'torch' is invalid for argument 'name'\. Allowed choices are cuda, node, webgpu, hnsw\./,
  ],
  [['remove', 'wasm'], 2, /Allowed choices are cuda, node, webgpu, hnsw/],
  [['remove', 'node'], 1, /no installed backend: node; ragpp backend list shows those that are there\n$/],
  [['check', 'torch'], 2, /Allowed choices are cuda, node, webgpu, wasm, cpu, hnsw/],
])('%j is an error', async (words, code, message) => {
  const outcome = await runRagpp('backend', ...words);
  expect(outcome.code).toBe(code);
  expect(outcome.stderr).toMatch(message);
});

test('check names the device and computes a gradient and golden cases', async () => {
  const { code, stdout } = await runRagpp('backend', 'check', 'wasm');
  expect(code).toBe(0);
  const [device, gradient, cases] = stdout.split('\n');
  expect(device).toBe('wasm: the processor');
  expect(gradient).toMatch(/^gradient of a product: differs by \d\.\de-\d+ at most, tolerance 0\.00001$/);
  expect(cases).toMatch(/^golden cases: (\d+) of \1 pass, in attention, bert, /);
  expect((await runRagpp('backend', 'check', 'wasm', '--load')).stdout).toBe('wasm: the processor\n');
});

test('the help of install names every backend', async () => {
  const { stdout } = await runRagpp('backend', 'install', '--help');
  for (const name of INSTALLABLE) expect(stdout).toMatch(new RegExp(`^${name} {2,}`, 'm'));
});

test('the addon of hnsw is compiled, compared with hnswlib-node, listed, checked and removed', async ({ skip }) => {
  if (process.platform !== 'linux' || process.arch !== 'x64' || !isProgramFound('c++'))
    skip('needs Linux on x86-64 with c++');
  const graphs = /^graphs: (\d+) of \1 have the bytes and the answers of hnswlib-node$/m;
  const installed = await runRagpp('backend', 'install', 'hnsw');
  expect(installed).toMatchObject({ code: 0, stdout: expect.stringMatching(graphs) });
  const folder = join(backends, 'hnsw');
  expect(installed.stdout).toContain(`\ninstalled hnsw in ${folder}\n`);
  const { stdout } = await runRagpp('backend', 'list');
  expect(stdout).toMatch(/^hnsw {2,}(?:\w+, )*sse {2,}0 {2,}hnswlib-node \d+\.\d+\.\d+ {2,}\//m);
  expect((await runRagpp('backend', 'check', 'hnsw')).stdout).toMatch(graphs);
  expect((await runRagpp('doctor', '--cache', join(root, 'none'))).stdout).toMatch(/^addon of hnsw +ok +.*sse, /m);
  expect(await runRagpp('backend', 'remove', 'hnsw')).toMatchObject({ code: 0, stdout: 'removed hnsw\n' });
  expect(await runRagpp('backend', 'check', 'hnsw')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('not installed: ragpp backend install hnsw'),
  });
  expect(readdirSync(backends)).toEqual([]);
}, 300_000);
