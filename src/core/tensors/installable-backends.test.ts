import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, expect, test } from 'vitest';
import { loadInstallable } from './installable-backends.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-installable-'));
afterAll(() => rmSync(root, { recursive: true }));

function writePackage(name: string, script: string): string {
  const folder = join(root, 'node_modules', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '4.22.0', main: 'index.js' }));
  writeFileSync(join(folder, 'index.js'), script);
  return folder;
}

test('a package registers itself with the copy of TensorFlow.js of the project, not with one beside it', async () => {
  for (const name of ['@tensorflow/tfjs-core', '@tensorflow/tfjs-backend-cpu'])
    writePackage(name, `throw new Error('a second copy of ${name}');`);
  writePackage('@tensorflow/tfjs', "module.exports = require('@tensorflow/tfjs-core');");
  const folder = writePackage(
    '@tensorflow/tfjs-node',
    `const tf = require('@tensorflow/tfjs');
     require('@tensorflow/tfjs-backend-cpu');
     tf.registerKernel({ kernelName: 'SampleKernel', backendName: 'sample', kernelFunc: () => tf.Tensor });`,
  );
  expect(await loadInstallable('node', [folder])).toBe('tensorflow');
  const kernel = tf.getKernel('SampleKernel', 'sample');
  tf.unregisterKernel('SampleKernel', 'sample');
  expect((kernel.kernelFunc as unknown as () => unknown)()).toBe(tf.Tensor);
});

test('what a package throws comes through', async () => {
  const folder = writePackage('@tensorflow/tfjs-node-gpu', "throw new Error('no library');");
  await expect(loadInstallable('cuda', [folder])).rejects.toThrow('no library');
});
