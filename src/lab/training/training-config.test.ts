import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { uninstallPlugin } from '../plugins/install.ts';
import { buildSampleTrainingConfig } from './training-config.fixture.ts';
import { loadTrainingConfig, openTrainingConfig } from './training-config.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-training-config-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'training.yaml');
writeFileSync(path, JSON.stringify(buildSampleTrainingConfig('data')));
writeFileSync(join(folder, 'longer.yaml'), 'extends: training.yaml\nfitting: { epochs: 17 }\n');

test('what is written is kept, what is not has its default', () => {
  const config = loadTrainingConfig(path);
  expect(config.fitting).toMatchObject({ epochs: 3, seeds: 1, temperature: 1, metric: 'ndcg@10', batchSize: 128 });
  expect(config).toMatchObject({ limitQueries: null, importance: true, transfer: [], sameChannel: false });
  expect(config.model).toMatchObject({ name: 'linear', nonNegative: [] });
});

test('a file is laid over another, and overrides over both', () => {
  const config = loadTrainingConfig(join(folder, 'longer.yaml'), ['fitting.seeds=5', 'limitQueries=7']);
  expect(config.fitting).toMatchObject({ epochs: 17, seeds: 5, patience: 2 });
  expect(config.limitQueries).toBe(7);
});

test('all errors are reported at once, with the nearest key', () => {
  const loadWrong = () =>
    loadTrainingConfig(path, ['fitting.epoch=3', 'crossValidation.outer=1', 'evaluation.metrics=[mmr@10]']);
  expect(loadWrong).toThrow(ConfigurationError);
  expect(loadWrong).toThrow(/3 errors/);
  expect(loadWrong).toThrow(/fitting\.epoch \(--set\): .*did you mean epochs\?/);
});

test('a filter is checked as it is read, and is no key of a config without one', () => {
  expect(Object.keys(loadTrainingConfig(path))).not.toContain('filter');
  expect(loadTrainingConfig(path, ["filter=phase = 'late'"]).filter).toBe("phase = 'late'");
  expect(() => loadTrainingConfig(path, ['filter=phase = late'])).toThrow(
    /filter \(--set\): expected a filter with a string, .* at line 1, column 9, not late \(put a string in quotes: 'late'\)/,
  );
});

test('a list of models is refused', () => {
  expect(() => loadTrainingConfig(path, ['models=[{name: linear}]'])).toThrow(/models \(--set\): expected .*model/);
});

test('folds are read from a file beside the config, and take the place of outer', () => {
  writeFileSync(join(folder, 'folds.json'), '[["a", "b"], ["c"]]');
  writeFileSync(join(folder, 'listed.yaml'), 'extends: training.yaml\ncrossValidation: { folds: folds.json }\n');
  expect(loadTrainingConfig(join(folder, 'listed.yaml')).crossValidation).toEqual({
    outer: [['a', 'b'], ['c']],
    inner: 2,
  });
  for (const text of ['[["a"]]', '{"a": 1}', '[["a"], []', '']) {
    writeFileSync(join(folder, 'folds.json'), text);
    expect(() => loadTrainingConfig(join(folder, 'listed.yaml'))).toThrow(
      /crossValidation\.folds: expected a readable file, a JSON list of lists of conversations \(.+\), got "folds\.json"/,
    );
  }
});

test('plugins are imported from beside the file, and written out with their code', async () => {
  const compute = 'compute: () => 0';
  const text = `export default { name: 'nought', version: 2, metrics: [{ name: 'nought', description: 'd', ${compute} }] };`;
  writeFileSync(join(folder, 'nought.mjs'), text);
  const plugged = join(folder, 'plugged.yaml');
  writeFileSync(plugged, 'extends: training.yaml\nplugins: [./nought.mjs]\nfitting: { metric: nought@3 }\n');
  expect(() => loadTrainingConfig(plugged)).toThrow(/plugins\[0\]: expected a plugin that is installed/);
  const { plugins, fitting } = await openTrainingConfig(plugged);
  expect(plugins).toMatchObject([{ name: 'nought', version: '2', module: expect.stringMatching(/nought\.mjs$/) }]);
  expect(fitting.metric).toBe('nought@3');
  const bare = () => loadTrainingConfig(path, ['evaluation.metrics=[nought@3]']);
  expect(bare).toThrow(/evaluation\.metrics\[0\] \(--set\): expected plugin nought in plugins/);
  uninstallPlugin('nought');
  expect(bare).toThrow(/evaluation\.metrics\[0\] \(--set\): expected a metric/);
});

describe('an error names the file and the line of its value', () => {
  const load = (name: string, text: string, ...changes: string[]) => {
    writeFileSync(join(folder, name), `extends: training.yaml\n${text}`);
    return () => loadTrainingConfig(join(folder, name), changes);
  };

  test('in the file, in one that it extends, and of an override', () => {
    writeFileSync(join(folder, 'wrong.yaml'), 'extends: training.yaml\nseed: x\n');
    const text = 'extends: wrong.yaml\nfitting:\n  epochs: 5\n  patince: 3\ncandidates:\n  - { index: bm25, k: 0 }\n';
    writeFileSync(join(folder, 'own.yaml'), text);
    const loadOwn = () => loadTrainingConfig(join(folder, 'own.yaml'), ['limitQueries=1']);
    expect(loadOwn).toThrow(/4 errors/);
    expect(loadOwn).toThrow(/seed: .*wrong\.yaml:2\)/);
    expect(loadOwn).toThrow(/fitting\.patince: .*did you mean patience\? \(.*own\.yaml:4\)/);
    expect(loadOwn).toThrow(/candidates\[0\]\.k: expected number >= 1, got 0 \(.*own\.yaml:6\)/);
    expect(loadOwn).toThrow(/limitQueries \(--set\): expected number >= 2, got 1/);
  });

  test('of the file of folds, with every other error', () => {
    const text = 'sede: 3\ncrossValidation:\n  folds: none.json\n';
    const loadFolds = load('folded.yaml', text);
    expect(loadFolds).toThrow(
      /crossValidation\.folds: expected a readable file.*got "none\.json" \(.*folded\.yaml:4\)/,
    );
    expect(loadFolds).toThrow(/sede: .*did you mean seed\? \(.*folded\.yaml:2\)/);
  });

  test('an override of outer does not lose against a file of folds', () => {
    const outer = 'crossValidation.outer=4';
    writeFileSync(join(folder, 'folds.json'), '[["a"], ["b"]]');
    const text = 'crossValidation: { folds: folds.json }\n';
    expect(load('both.yaml', text, outer)).toThrow(/crossValidation\.folds: expected null, since --set .*:2\)/);
    expect(load('both.yaml', text, outer, 'crossValidation.folds=null')().crossValidation.outer).toBe(4);
  });
});
