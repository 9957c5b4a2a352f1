import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/backend.ts';
import { Corpus } from '../../model/corpus.ts';
import { armStages } from '../../retrieval/arm-signals.ts';
import { sampleWorld } from '../../signals/corpus.fixture.ts';
import { Plan } from '../../signals/plan.ts';
import { least, plain } from '../config/config.fixture.ts';
import { type ArmOptions, type ExperimentConfig, resolveConfig } from '../config/config.ts';
import { cutoffOf, tuningStage } from './tuning-stage.ts';

const config = resolveConfig({ ...least, arms: [{ ...plain, decay: { halfLifeHours: 7 } }] }, 'test');
const arm = config.arms[0] as ArmOptions;
const { trajectory } = resolveConfig({ ...least, arms: [{ ...plain, trajectory: {} }] }, 'test').arms[0] as ArmOptions;
let graph: Plan;
beforeAll(async () => {
  await useBackend('cpu');
  const { turns, queries } = sampleWorld(3);
  const identity = { code: 'c', data: 'd', encoder: {} };
  graph = new Plan({ identity, corpus: new Corpus(turns), queries, seed: 3 });
});

const keyOf = (options: object = {}, metric = 'mrr@10', depth = 100) => {
  const { tuning, evaluation } = config;
  const measured: ExperimentConfig = { ...config, tuning: { ...tuning, metric }, evaluation: { ...evaluation, depth } };
  return tuningStage(graph, { ...arm, ...options }, measured).key;
};

test.each([
  ['mrr@10', 10],
  ['ndcg_burges@3', 3],
  ['map', 41],
])('%s looks at %i places of 41', (metric, places) => {
  expect(cutoffOf(metric, 41)).toBe(places);
});

test('what an arm is called and how it came about is no part of how good it is', () => {
  const said = { name: 'x', description: 'y', extends: 'z', tune: { a: [1] }, levels: { a: 'b' }, differences: ['k'] };
  expect(keyOf(said)).toBe(keyOf());
});

test('its options, the metric and how far that looks are', () => {
  const keys = [
    keyOf(),
    keyOf({ decay: { halfLifeHours: 11 } }),
    keyOf({ trajectory: { ...trajectory, weight: 0.2 } }), // which no other stage depends on
    keyOf({ trajectory: { ...trajectory, weight: 0.3 } }),
    keyOf({ candidates: [{ ...arm.candidates[0], k: 7 }] }),
    keyOf({}, 'mrr@5'),
    keyOf({}, 'recall@10'),
    keyOf({}, 'map'),
    keyOf({}, 'map', 37),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(keyOf({}, 'mrr@10', 37)).toBe(keyOf());
});

test('it is made from what the ranking is made from', () => {
  expect(tuningStage(graph, arm, config)).toMatchObject({ name: 'tuning-value', inputs: armStages(graph, arm) });
  expect(armStages(graph, arm).length).toBeGreaterThan(0);
});
