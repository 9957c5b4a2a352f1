import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Plain } from '../composition/config-file.ts';
import { type FittedArm, findFittedArm, listFixedArms, selectArms } from './arm-selection.ts';
import { least } from './config.fixture.ts';
import { loadConfig, resolveConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-fitted-arm-'));
afterAll(() => rmSync(folder, { recursive: true }));

const words = { search: { bm25: {} } };
const { arms: _, evaluation: __, ...shared } = least as Plain;
const build = (fit: Plain, more: Plain = {}, steps: readonly object[] = [words]) => ({
  ...shared,
  arms: { learned: { steps: [...steps, { mix: { signals: { groups: ['text'] }, fit } }] } },
  ...more,
});
const resolve = (...parts: Parameters<typeof build>) => resolveConfig(build(...parts), 'test');
const readFit = (config: Parameters<typeof findFittedArm>[0]) => (findFittedArm(config) as FittedArm).mix.fit;

test('a fit has its defaults, and its experiment measures dev beside the arm before the fit', () => {
  const config = resolve({ epochs: 3 });
  expect(readFit(config)).toMatchObject({ epochs: 3, seeds: 3, folds: 5, metric: 'ndcg@10', transfer: [] });
  expect(config.evaluation).toMatchObject({ split: 'dev', baseline: 'hand-tuned' });
  expect(resolveConfig(structuredClone(config) as unknown as Plain, 'again')).toEqual(config);
  expect(resolve({}, { evaluation: { baseline: 'learned' } }).evaluation.baseline).toBe('hand-tuned');
});

test('a selection has its defaults; a mix says how its signals are standardised only where it is written', () => {
  expect(readFit(resolve({}))).toMatchObject({ select: null, normalise: 'pool' });
  const { select, normalise } = readFit(resolve({ select: { method: 'greedy', size: 28 }, normalise: 'question' }));
  expect({ select, normalise }).toEqual({ select: { method: 'greedy', size: 28, l2: 0.001 }, normalise: 'question' });
  const resolveMix = (mix: Plain) => {
    const config = { ...shared, arms: { mixed: [words, { mix }] }, evaluation: { baseline: 'mixed' } };
    return resolveConfig(config, 'test').arms[0]?.mix;
  };
  const weights = { bm25: 2 };
  expect(resolveMix({ weights })).not.toHaveProperty('normalise');
  expect(resolveMix({ weights, normalise: 'question' })).toMatchObject({ weights, normalise: 'question' });
  expect(() => resolveMix({ weights, normalize: 'question' })).toThrow(/mix\.normalize: .*did you mean normalise\?/);
});

test('a fit that is null leaves room for weights', () => {
  const set = { 'mix.fit': null, 'mix.weights': { bm25: 2 } };
  const arms = { learned: [words, { mix: { fit: {} } }], fixed: { from: 'learned', set } };
  const config = { ...shared, arms, evaluation: { baseline: 'fixed' } };
  const resolved = resolveConfig(config, 'test');
  expect(resolved.evaluation).toMatchObject({ split: 'dev', baseline: 'fixed' });
  expect(listFixedArms(resolved).map(({ name }) => name)).toEqual(['fixed']);
  expect(selectArms(resolved, ['fixed'])).toEqual(resolved);
  expect(() => resolveConfig({ ...config, only: ['fixed'] }, 'test')).toThrow(/only: expected the fitted arm, learned/);
  expect(listFixedArms(resolved)[0]?.mix).toEqual({ signals: expect.anything(), weights: { bm25: 2 }, origin: null });
});

test.each<[string, Parameters<typeof build>, RegExp]>([
  [
    'another arm that is fitted',
    [{}, { arms: { ...build({}).arms, again: { from: 'learned' } } }],
    /arms\.again\.mix: expected one arm with mix\.fit/,
  ],
  [
    'a null control',
    [{}, { arms: { ...build({}).arms, ring: [words, { blend: { rcp: {} } }] }, controls: ['permuted-order'] }],
    /expected one arm with mix\.fit, without null controls/,
  ],
  [
    'another arm with the name of a method',
    [{}, { arms: { ...build({}).arms, uniform: [words] } }],
    /arms\.uniform: expected none of hand-tuned, uniform,/,
  ],
  [
    'another arm that is tuned',
    [{}, { arms: { ...build({}).arms, plain: { steps: [words], tune: { 'search.bm25.k': [3, 5] } } } }],
    /arms\.plain\.tune: expected no tuning beside a fit/,
  ],
  [
    'the test split',
    [{}, { evaluation: { split: 'test' } }],
    /evaluation\.split: expected dev, since ragpp test-weights/,
  ],
  ['another baseline', [{}, { evaluation: { baseline: 'uniform' } }], /evaluation\.baseline: expected an arm/],
  ['a race', [{}, { evaluation: { race: {} } }], /evaluation\.race: expected nothing/],
  [
    'a step after the mix',
    [{}, { arms: { learned: [words, { mix: { fit: {} } }, { pack: 9 }] } }],
    /arms\.learned: expected mix with its fit as the last step/,
  ],
  [
    'a signal that the bank lacks',
    [{ model: { name: 'linear', signals: ['bm26'] } }],
    /mix\.fit\.model\.signals\[0\]: expected a signal of the bank, such as bm25/,
  ],
  [
    'a start of zero',
    [{ model: { name: 'linear', signals: ['coverage'] } }],
    /model\.initial: expected the weight of at least one signal/,
  ],
  ['users without their signals', [{ users: {} }], /mix\.signals\.groups: expected a list with text and memory/],
  ['a key that is misspelt', [{ epoch: 3 }], /mix\.fit\.epoch: .*did you mean epochs\?/],
  [
    'a misspelt key of a selection',
    [{ select: { method: 'greedy', sizes: 3 } }],
    /mix\.fit\.select\.sizes: .*did you mean size\?/,
  ],
  ['a selection of no signals', [{ select: { method: 'greedy', size: [3, 0] } }], /mix\.fit\.select\.size/],
  ['another selection', [{ select: { method: 'greedi', size: 3 } }], /mix\.fit\.select\.method: .*greedy/],
  ['another normalisation', [{ normalise: 'questions' }], /mix\.fit\.normalise: .*did you mean question\?/],
  [
    'a selection for the trajectory model',
    [{ model: { name: 'trajectory' }, select: { method: 'greedy', size: 3 } }],
    /mix\.fit\.select: expected null: signals are selected for model linear alone/,
  ],
  [
    'a normalisation of the trajectory model',
    [{ model: { name: 'trajectory' }, normalise: 'question' }],
    /mix\.fit\.normalise: expected pool: model trajectory standardises no signals/,
  ],
  [
    'steps of other data that find nothing',
    [{ transfer: [{ name: 'x', dataset: { name: 'jsonl', path: 'x' }, steps: [{ serch: {} }] }] }],
    /mix\.fit\.transfer\[0\]\.steps: .*serch/,
  ],
])('%s is refused', (_name, parts, message) => {
  expect(() => resolve(...parts)).toThrow(message);
});

test('each key of an earlier training is refused with its place today', () => {
  const former = { candidates: [], model: {}, fitting: {}, crossValidation: {}, limitQueries: 3, sameChannel: true };
  const load = () => resolveConfig({ ...shared, ...former }, 'test');
  expect(load).toThrow(/candidates: expected a step search of an arm/);
  expect(load).toThrow(/fitting: expected its keys in mix\.fit of an arm, .*got the key "fitting"/);
  expect(load).toThrow(/crossValidation: expected mix\.fit\.folds and mix\.fit\.innerFolds/);
  expect(load).toThrow(/limitQueries: expected evaluation\.limitQueries/);
});

describe('folds of a file', () => {
  const file = join(folder, 'folds.json');
  const config = join(folder, 'config.yaml');
  writeFileSync(config, JSON.stringify(build({ folds: 'folds.json' })));

  test('are read from beside the config', () => {
    writeFileSync(file, '[["a", "b"], ["c"]]');
    expect(readFit(loadConfig(config)).folds).toEqual([['a', 'b'], ['c']]);
    expect(readFit(loadConfig(config, ['arms.learned.set.mix.fit.folds=4'])).folds).toBe(4);
  });

  test.each(['[["a"]]', '{"a": 1}', '[["a"], []', ''])('are refused where they are %s', (text) => {
    writeFileSync(file, text);
    expect(() => loadConfig(config)).toThrow(
      /mix\.fit\.folds: expected leave-one-out, a number, .* or a readable file .*got "folds\.json" \(.*config\.yaml:1\)/,
    );
  });
});
