import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { listArmStages } from '../../rank/retrieval/written-steps.ts';
import { drawSampleWorld } from '../../rank/signals/corpus.fixture.ts';
import { Plan } from '../../rank/signals/plan.ts';
import { least } from '../config/config.fixture.ts';
import { type ArmOptions, type ExperimentConfig, resolveConfig } from '../config/config.ts';
import { ArmTuning, parseMetricCutoff, tuningStage } from './tuning.ts';

const config = resolveConfig(
  {
    name: 'tuning',
    dataset: { name: 'spamassassin-threads' },
    embedding: { encoder: 'lsa' },
    evaluation: { baseline: 'plain' },
    arms: {
      plain: [{ search: { bm25: {} } }],
      decayed: { from: 'plain', then: [{ decay: {} }], tune: { 'decay.halfLifeHours': [12, 48, 96] } },
      placed: {
        from: 'decayed',
        then: [{ blend: { trajectory: {} } }],
        tune: { 'blend.trajectory.weight': [0.1, 0.5], 'blend.trajectory.sigma': [1, 2] },
      },
      fixed: { from: 'decayed', set: { 'decay.halfLifeHours': 6 } },
    },
  },
  'test',
);

/** The options of the steps that these arms have. */
interface SampleSteps {
  readonly steps: readonly string[];
  readonly search: { readonly bm25: object };
  readonly decay?: { readonly halfLifeHours: number };
  readonly blend?: { readonly trajectory: { readonly weight: number; readonly sigma: number } };
}
const readSteps = (arm: unknown) => arm as SampleSteps;

/** A tuning that likes 50 hours and much trajectory, and a list of what it was asked. */
function createSampleTuning(): { readonly arms: ArmTuning; readonly asked: string[] } {
  const asked: string[] = [];
  const arms = new ArmTuning(config.arms, async (arm) => {
    const { name } = arm;
    const { decay, blend } = readSteps(arm);
    const trajectory = blend?.trajectory;
    asked.push(`${name} ${decay?.halfLifeHours} ${trajectory?.weight} ${trajectory?.sigma}`);
    return name === 'decayed' ? -Math.abs((decay?.halfLifeHours ?? 0) - 50) : (trajectory?.weight ?? 0);
  });
  return { arms, asked };
}

const DECAYED = ['decayed 12 undefined undefined', 'decayed 48 undefined undefined', 'decayed 96 undefined undefined'];
const PLACED = ['placed 48 0.1 1', 'placed 48 0.1 2', 'placed 48 0.5 1', 'placed 48 0.5 2'];

test('each arm starts from what was chosen for the arm that it extends, unless it says otherwise', async () => {
  const { arms, asked } = createSampleTuning();
  const tuned = [];
  for (const { name } of config.arms) tuned.push(await arms.tuneNamedArm(name));
  expect(tuned.map(({ options, tuned: point }) => [options.name, point])).toEqual([
    ['plain', {}],
    ['decayed', { 'decay.halfLifeHours': 48 }],
    ['placed', { 'decay.halfLifeHours': 48, 'blend.trajectory.weight': 0.5, 'blend.trajectory.sigma': 1 }],
    ['fixed', {}],
  ]);
  expect(tuned.map(({ options }) => readSteps(options).decay?.halfLifeHours)).toEqual([undefined, 48, 48, 6]);
  expect(asked).toEqual([...DECAYED, ...PLACED]);
});

test('an arm asked for alone is tuned along its chain, and nothing is measured twice', async () => {
  const { arms, asked } = createSampleTuning();
  let points = 0;
  expect(arms.countPointsLeft('placed')).toBe(7);
  const { tuned } = await arms.tuneNamedArm('placed', () => points++);
  expect(tuned).toEqual({ 'decay.halfLifeHours': 48, 'blend.trajectory.weight': 0.5, 'blend.trajectory.sigma': 1 });
  expect(points).toBe(7);
  expect(arms.countPointsLeft('placed')).toBe(0);
  await arms.tuneNamedArm('decayed');
  expect(asked).toEqual([...DECAYED, ...PLACED]);
});

test('an arm whose parent cannot be tuned fails of the same, and the parent itself is not tried again', async () => {
  let tries = 0;
  const arms = new ArmTuning(config.arms, async () => {
    tries++;
    throw new Error('no light');
  });
  for (const name of ['placed', 'decayed', 'fixed']) await expect(arms.tuneNamedArm(name)).rejects.toThrow('no light');
  expect(tries).toBe(1);
  await expect(arms.tuneNamedArm('plain')).resolves.toMatchObject({ tuned: {} });
});

test('an unknown arm is named', async () => {
  expect(() => createSampleTuning().arms.countPointsLeft('plane')).toThrow(
    'experiment has no arm: plane; use the name of one of its arms',
  );
});

describe('the stage of a tuning value', () => {
  const steps = [{ search: { bm25: {} } }, { decay: 7 }];
  const decayedConfig = resolveConfig({ ...least, arms: { plain: steps } }, 'test');
  const arm = decayedConfig.arms[0] as ArmOptions;
  const resolveBlend = (weight: number) =>
    resolveConfig({ ...least, arms: { plain: [...steps, { blend: { trajectory: weight } }] } }, 'test')
      .arms[0] as ArmOptions;
  let graph: Plan;
  beforeAll(async () => {
    await useBackend('cpu');
    const { turns, queries } = drawSampleWorld(3);
    const identity = { code: 'c', data: 'd', encoder: {} };
    graph = new Plan({ identity, corpus: new Corpus(turns), queries, seed: 3 });
  });

  const keyOf = (options: object = {}, metric = 'mrr@10', depth = 100) => {
    const { tuning, evaluation } = decayedConfig;
    const measured: ExperimentConfig = {
      ...decayedConfig,
      tuning: { ...tuning, metric },
      evaluation: { ...evaluation, depth },
    };
    return tuningStage(graph, { ...arm, ...options }, measured).key;
  };

  test.each([
    ['mrr@10', 10],
    ['ndcg_burges@3', 3],
    ['map', 41],
    ['recall@7t', 41],
  ])('%s looks at %i places of 41', (metric, places) => {
    expect(parseMetricCutoff(metric, 41)).toBe(places);
  });

  test('what an arm is called and how it came about is no part of how good it is', () => {
    const said = {
      name: 'x',
      description: 'y',
      extends: 'z',
      tune: { a: [1] },
      levels: { a: 'b' },
      differences: ['k'],
    };
    expect(keyOf(said)).toBe(keyOf());
  });

  test('its options, the metric and how far that looks are', () => {
    const keys = [
      keyOf(),
      keyOf({ decay: { halfLifeHours: 11 } }),
      keyOf(resolveBlend(0.2)), // which no other stage depends on
      keyOf(resolveBlend(0.3)),
      keyOf({ search: { bm25: { ...readSteps(arm).search.bm25, k: 7 } } }),
      keyOf({}, 'mrr@5'),
      keyOf({}, 'recall@10'),
      keyOf({}, 'map'),
      keyOf({}, 'map', 37),
    ];
    expect(new Set(keys).size).toBe(keys.length);
    expect(keyOf({}, 'mrr@10', 37)).toBe(keyOf());
  });

  test('it is made from what the ranking is made from', () => {
    expect(tuningStage(graph, arm, decayedConfig)).toMatchObject({
      name: 'tuning-value',
      inputs: listArmStages(graph, arm),
    });
    expect(listArmStages(graph, arm).length).toBeGreaterThan(0);
  });
});
