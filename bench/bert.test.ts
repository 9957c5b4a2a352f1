import { expect, test } from 'vitest';
import { readBack } from '../src/core/tensors/scope.ts';
import { drawBert, SMALL_SIZES } from '../src/ops/bert/bert.fixture.ts';
import { disposeBert, runBert, uploadBert } from '../src/ops/bert/bert.ts';
import { tryOnnx } from './bert-onnx.ts';
import { BertPeer } from './bert-peer.ts';
import { runBenchCommand } from './command.harness.ts';
import { findOwnTorch } from './peers/process.ts';
import type { FoundPython } from './peers/python.ts';
import { findInstalled } from './peers/venv.ts';

const system = findOwnTorch();
/** A test installs nothing. */
const python = 'versions' in system ? system : findInstalled('torch-requirements.txt');

test('prints the time, the rate and the launches of a pass for each size', async () => {
  const small = [
    '--lengths',
    '5,9',
    '--batches',
    '1,2',
    '--layers',
    '1',
    '--rounds',
    '1',
    '--backend',
    'cpu',
    '--peer',
    'none',
  ];
  const { status, output } = await runBenchCommand('bert', ...small);
  expect(status).toBe(0);
  expect(output).toContain('weights: 1 layers of 384 numbers, random, seed 1');
  for (const row of ['1 +5', '1 +9', '2 +5', '2 +9'])
    expect(output).toMatch(new RegExp(`\\n *${row}( +\\d+\\.\\d+){4} +[1-9]\\d+( +-){5}`));
  expect(output).toContain('no peer: none was asked for');
  expect(output).toMatch(/use-lite, a text at a time:\npieces +ms\n[- ]+\n5 +\d+\.\d\n9 +\d+\.\d\n/);
  expect(output).toContain('no onnxruntime: name a model with --onnx FOLDER');
});

test('without onnxruntime or the model, the bench prints the reason', async () => {
  expect(await tryOnnx('no-such-folder', [5], 1)).toMatch(/is not available: /);
});

test.skipIf(python === null)(
  'torch gives the same vectors',
  async () => {
    const weights = drawBert(3);
    const bert = uploadBert(weights, SMALL_SIZES);
    const peer = new BertPeer(python as FoundPython, weights, SMALL_SIZES);
    try {
      const ids = Int32Array.of(3, 1, 4, 1, 5, 9, 2, 6, 5, 3);
      const expected = await readBack('bert', () => runBert(bert, ids, 5));
      const { vectors } = await peer.run(ids, 5, 1);
      expect(vectors).toHaveLength(expected.length);
      for (const [i, value] of expected.entries()) expect(vectors[i]).toBeCloseTo(value, 4);
    } finally {
      peer.dispose();
      disposeBert(bert);
    }
  },
  60_000,
);
