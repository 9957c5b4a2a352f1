import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readDisplay } from '../../core/display/display.harness.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { drawHandmadeTable } from './feature-table.fixture.ts';
import { listWeightRows } from './learning-display.ts';
import { createLinearModel } from './linear-model.ts';
import { fitStandardisation } from './standardisation.ts';
import { train } from './training.ts';
import { readWeights, writeWeights } from './weight-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-shown-weights-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(() => useBackend('cpu'));

const signals = ['cosine', 'age'];
const table = drawHandmadeTable({ queries: 7, candidates: 5, clusters: 2, signals, seed: 3 });
const model = createLinearModel(
  { signals, nonNegative: ['cosine'], initial: { age: -0.5 } },
  fitStandardisation(table, signals),
);

test('the rows of weights have the parameter, the label, the start and the value', () => {
  const rows = listWeightRows({ model, values: Float64Array.of(0.25, 0.75) });
  expect(rows).toEqual([
    { parameter: 'weights', label: 'age', handTuned: -0.5, value: 0.25 },
    { parameter: 'nonNegativeWeights', label: 'cosine', handTuned: 0.1, value: 0.75 },
  ]);
});

test('a training shows its curve as a figure and its numbers as text', async () => {
  const bundle = await readDisplay(await train(model, table, null, { epochs: 3 }));
  expect(bundle['text/plain']).toMatch(/^training of 3 epochs, best epoch 3\nloss: scatter of 3 values\n/);
  expect(bundle['text/plain']).toMatch(/\nnonNegativeWeights +cosine +\.1000/);
  expect(bundle['image/svg+xml']).toContain('<svg');
});

test('a weight file shows its numbers as a table', async () => {
  const path = join(folder, 'x.safetensors');
  const provenance = {
    config: {},
    dataHash: 'a',
    seeds: [1],
    commit: 'b',
    backend: 'cpu',
    trainingClusters: ['c', 'd'],
  };
  writeWeights(path, { model, values: Float64Array.of(0.25, 0.75), provenance });
  const bundle = await readDisplay(readWeights(path));
  expect(bundle['text/plain']).toMatch(/^weights of the linear model from 2 clusters\nparameter +label/);
  expect(bundle['text/html']).toContain('<td style="text-align: left">cosine</td>');
});
