import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { uninstallPlugin } from '../lab/plugins/install.ts';
import { listInstalledPlugins } from '../lab/plugins/resolved-plugin.ts';
import {
  buildSampleTrainingConfig,
  changeSampleTraining,
  writeSampleTraining,
} from '../lab/training/training-config.fixture.ts';
import { readWeights } from '../rank/learning/weight-file.ts';
import { runRagpp, type StoredMetrics } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-train-plugins-'));
afterAll(() => rmSync(root, { recursive: true }));
/** As a new process begins. */
const uninstallAll = () => {
  for (const { name } of listInstalledPlugins()) uninstallPlugin(name);
};
afterEach(uninstallAll);

writeSampleTraining(root);
const example = (name: string) => fileURLToPath(new URL(`../../examples/plugins/${name}.ts`, import.meta.url));
const sample = buildSampleTrainingConfig(root);
const set = {
  'mix.signals': { groups: ['text'], plugins: { 'form.similar-length': { scale: 20 } } },
  'mix.fit.model': {
    ...{ name: 'linear', signals: ['bm25@share', 'cosine@share', 'form.similar-length'] },
    initial: { 'bm25@share': 1 },
  },
  'mix.fit.metric': 'reach@3',
  'mix.fit.importance': false,
};
const changes = {
  plugins: [example('signal'), example('metric'), './reach.mjs'],
  evaluation: { ...sample.evaluation, metrics: ['mrr@10', 'mean-grade@3'] },
};
const training = changeSampleTraining(root, set, changes);
const config = join(root, 'training.yaml');
const writeConfig = (content: object) => writeFileSync(config, JSON.stringify(content));
const writeMetric = (file: string, value: string) =>
  writeFileSync(
    join(root, file),
    `export default { name: 'reach', version: 1, metrics: [{ name: 'reach', description: 'd', compute: ({ grades }, k) => ${value} }] };\n`,
  );
const cache = join(root, 'cache');
const start = (results: string, ...more: string[]) =>
  runRagpp('run', config, '--cache', cache, '--results', join(root, results), ...more);
const findFolder = (results: string) => join(root, results, readdirSync(join(root, results))[0] as string);

beforeAll(async () => {
  writeMetric('reach.mjs', 'Math.max(0, ...grades.subarray(0, k))');
  writeConfig(training);
  const { code, stderr } = await start('first');
  expect(code, stderr).toBe(0);
});

test('a training learns the weight of a plugin signal, by the metric of a plugin', async () => {
  const { model, provenance } = readWeights(join(findFolder('first'), 'weights-linear.safetensors'));
  expect(model.parameters.flatMap(({ labels }) => labels)).toContain('form.similar-length');
  expect((provenance.config as { plugins: { name: string }[] }).plugins.map(({ name }) => name)).toEqual([
    'length-signal',
    'graded-metric',
    'reach',
  ]);
  const { arms } = JSON.parse(readFileSync(join(findFolder('first'), 'metrics.json'), 'utf8')) as StoredMetrics;
  expect(arms[0]?.metrics['mean-grade@3']?.mean).toBeGreaterThan(0);
  expect(JSON.parse(readFileSync(join(findFolder('first'), 'environment.json'), 'utf8')).plugins).toHaveLength(3);
  expect(readFileSync(join(findFolder('first'), 'controls.csv'), 'utf8')).toContain('plugins');
});

test('its weights are measured on the test split, and score an arm', async () => {
  const tested = await runRagpp('test-weights', findFolder('first'), '--cache', cache);
  expect(tested.code, tested.stderr).toBe(0);
  uninstallAll();
  const run = join(root, 'run.json');
  const mix = join(findFolder('first'), 'weights-linear.safetensors');
  const experiment = {
    ...{ name: 'learned', backend: 'cpu', dataset: sample.dataset, embedding: sample.embedding },
    evaluation: { baseline: 'learned', samples: 499, split: 'test' },
    arms: { learned: [{ search: { bm25: { k: 11 } } }, { mix }] },
  };
  const runIt = () => runRagpp('run', run, '--cache', cache, '--results', join(root, 'runs'));
  writeFileSync(run, JSON.stringify(experiment));
  const without = await runIt();
  expect(without.code).toBe(2);
  expect(without.stderr).toMatch(
    /mix: expected a signal that a plugin of the config defines, unlike form\.similar-length/,
  );
  writeFileSync(run, JSON.stringify({ ...experiment, plugins: [example('signal')] }));
  const { code, stderr } = await runIt();
  expect(code, stderr).toBe(0);
});

test('another code of a metric is another training', async () => {
  // A module is imported once in a process, so its new code is in another file.
  writeMetric('reach-2.mjs', '(grades[0] > 0 ? 1 : 0) / k');
  writeConfig({ ...training, plugins: [example('signal'), example('metric'), './reach-2.mjs'] });
  const folds = join(cache, 'stages', 'trained-fold');
  const before = readdirSync(folds).length;
  const { code, stderr } = await start('second');
  expect(code, stderr).toBe(0);
  expect(findFolder('second').split('/').at(-1)).not.toBe(findFolder('first').split('/').at(-1));
  expect(readdirSync(folds)).toHaveLength(2 * before);
});

test.each([
  [
    'a signal without its plugin',
    { plugins: [] },
    /form\.similar-length: expected a signal that a plugin of the config/,
  ],
  [
    'an option that the signal does not have',
    changeSampleTraining(root, { ...set, 'mix.signals.plugins': { 'form.similar-length': { scal: 1 } } }, changes),
    /scal/,
  ],
  ['a plugin that is missing', { plugins: ['./none.mjs'] }, /none\.mjs is not available: no file is there/],
])('%s is refused', async (_, change, message) => {
  writeConfig({ ...training, ...change });
  const { code, stderr } = await start('refused');
  expect(code).not.toBe(0);
  expect(stderr).toMatch(message);
});
