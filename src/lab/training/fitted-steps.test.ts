import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { createLinearModel } from '../../rank/learning/linear-model.ts';
import { writeWeights } from '../../rank/learning/weight-file.ts';
import { resolveConfig } from '../config/config.ts';
import { FIT_METHODS } from '../config/fitted-arm.ts';
import { renderMarkdown } from '../report/tables/markdown.ts';
import { writeSampleJsonl } from '../run/jsonl.fixture.ts';
import { runExperiment } from '../run/run.ts';
import { describeFittedSteps } from './fitted-steps.ts';
import type { LearningTask } from './learning-task.ts';
import { runTest } from './test-run.ts';
import { buildSampleTrainingConfig } from './training-config.fixture.ts';
import { readTraining } from './training-config.ts';
import { runTraining } from './training-run.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-fitted-steps-'));
afterAll(() => rmSync(root, { recursive: true }));
const context = { cacheFolder: join(root, 'cache'), backend: 'cpu' as const, command: '' };
beforeAll(async () => {
  await useBackend('cpu');
  writeSampleJsonl(root);
});

const sample = buildSampleTrainingConfig(root);
const [search, { mix }] = sample.arms.learned.steps as unknown as [object, { readonly mix: { readonly fit: object } }];
/** The sample's fit, without what takes long, as the last step. */
const fitted = { mix: { ...mix, fit: { ...mix.fit, resamples: 0, importance: false, controls: false } } };
const resolve = (arms: object, evaluation: object = {}) =>
  resolveConfig({ ...sample, evaluation: { ...sample.evaluation, ...evaluation }, arms }, 'test');
const train = (...steps: readonly object[]) => runTraining(resolve({ mixed: steps }), context);

test('the steps of a fitted arm have the counts of an arm with its weights', async () => {
  const { result, weights } = await train(search, fitted);
  expect(result.arms.map(({ name }) => name)).toEqual([...FIT_METHODS]);
  for (const { steps = [] } of result.arms) {
    expect(steps.map(({ step }) => step)).toEqual(['search.bm25', 'search.flat', 'mix']);
    expect(steps.every(({ queries, of, reason }) => queries > 0 && of === 32 && reason === undefined)).toBe(true);
  }
  expect(renderMarkdown(result)).toMatch(/^\| learned +\| search.bm25 32, search.flat 32, mix \d+ +\| 32 +\|/m);

  const file = join(root, 'weights-linear.safetensors');
  const own = weights?.get('weights-linear.safetensors');
  writeWeights(file, own as never);
  const tested = await runTest(resolve({ mixed: [search, fitted] }), file, own as never, context);
  const { arms } = (
    await runExperiment(
      resolve({ mixed: [search, { mix: file }] }, { split: 'test', baseline: 'mixed', depth: 1000 }),
      context,
    )
  ).result;
  expect(arms[0]?.steps?.map(({ of }) => of)).toEqual([14, 14, 14]);
  expect(tested.arms.map(({ name }) => name)).toEqual(['hand-tuned', 'uniform', 'learned']);
  expect(tested.arms[2]?.steps).toEqual(arms[0]?.steps);
});

test('a step that changes nothing is an error before the fit, or states a reason in the table', async () => {
  const filter = 'timestamp <= $query.timestamp';
  await expect(train({ filter }, search, fitted)).rejects.toThrow(
    'arm mixed: step filter changes none of 32 queries; leave it out, change the options, or say why beside the step: unchanged: REASON',
  );
  const { result } = await train({ filter, unchanged: 'every turn is earlier' }, search, fitted);
  expect(result.arms.map(({ steps = [] }) => steps[0])).toEqual(
    FIT_METHODS.map(() => ({ step: 'filter', queries: 0, of: 32, reason: 'every turn is earlier' })),
  );
});

const newest = { search: { newest: { k: 1 } } };

test('a mix that changes nothing is an error with the fitted weights, or states a reason', async () => {
  await expect(train(newest, fitted)).rejects.toThrow(
    /^arm learned: step mix changes none of 32 queries by the weights bm25@share [\d.]+(, \S+ −?[\d.]+){3}; leave/,
  );
  const { result } = await train(newest, { ...fitted, unchanged: 'one candidate' });
  for (const { steps } of result.arms)
    expect(steps).toEqual([{ step: 'mix', queries: 0, of: 32, reason: 'one candidate' }]);
});

test('weights of 0, those that were not fitted and a search that kept the start are reasons', () => {
  const standardisation = { means: [0, 0], deviations: [1, 1] } as never;
  const model = createLinearModel({ signals: ['bm25@share', 'decay.24h'] }, standardisation);
  const config = readTraining(resolve({ mixed: [newest, fitted] }));
  const task = { queries: [{}, {}] } as unknown as LearningTask;
  const explain = (method: string, values: readonly number[] | null, isStart = false) => {
    const ranked = { method, mixed: 0, values: values && Float64Array.from(values), isStart };
    const [mix] = describeFittedSteps(task, config, model, [], [ranked]).get(method) ?? [];
    expect(mix).toMatchObject({ step: 'mix', queries: 0, of: 2 });
    return mix?.reason;
  };
  expect(explain('learned', [0, 0])).toBe('every weight is 0');
  expect(explain('hand-tuned', [1, 0])).toBe('not fitted: where training starts');
  expect(explain('uniform', [1, 1])).toBe('not fitted: every signal alike');
  expect(explain('random search', null, true)).toBe('found nothing better than the start');
  expect(() => explain('random search', null)).toThrow(ValidationError);
  expect(() => explain('learned', [0, -0.25])).toThrow(
    'none of 2 queries by the weights decay.24h −.2500, bm25@share 0; leave it out',
  );
});
