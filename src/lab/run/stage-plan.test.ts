import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BackendName, useBackend } from '../../core/tensors/backend.ts';
import { loadDataset } from '../../data/registry.ts';
import type { Plain } from '../composition/config-file.ts';
import { type ExperimentConfig, resolveConfig } from '../config/config.ts';
import { stageVersion } from './environment.ts';
import { buildSampleConfig, writeSampleJsonl } from './jsonl.fixture.ts';
import { runExperiment } from './run.ts';
import { findIdleRepetitions, planStages, type StagePlan } from './stage-plan.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-plan-'));
afterAll(() => rmSync(folder, { recursive: true }));
let backend: BackendName;
beforeAll(async () => {
  backend = await useBackend('wasm');
  writeSampleJsonl(folder);
});

function buildPlanConfig(changes: Plain = {}): ExperimentConfig {
  const sample = buildSampleConfig(folder) as Plain;
  const evaluation = { ...(sample.evaluation as Plain), ...(changes.evaluation as Plain) };
  return resolveConfig({ ...sample, ...changes, evaluation }, 'sample');
}

async function planConfig(wanted: ExperimentConfig): Promise<StagePlan> {
  const dataset = await loadDataset(wanted.dataset, { cacheFolder: null });
  const before = tf.memory().numTensors;
  const plan = planStages({ dataset, config: wanted, code: stageVersion });
  expect(tf.memory().numTensors).toBe(before);
  return plan;
}

/** What a run with an empty cache executes, by stage, and the keys of what it keeps. */
async function executeConfig(wanted: ExperimentConfig): Promise<{ counts: Record<string, number>; keys: string[] }> {
  const cacheFolder = mkdtempSync(join(folder, 'cache-'));
  const { result } = await runExperiment(wanted, { backend, cacheFolder, command: 'ragpp run sample.yaml' });
  expect(result.failures).toEqual([]);
  const counts = Object.entries(result.stages).map(([name, count]) => [name, count.executed] as const);
  const files = readdirSync(join(cacheFolder, 'stages'), { recursive: true, encoding: 'utf8' });
  const keys = files.filter((name) => name.endsWith('.safetensors')).map((name) => basename(name, '.safetensors'));
  return { counts: Object.fromEntries(counts.filter(([, count]) => count > 0)), keys: keys.sort() };
}

const buildSampleArms = () => (buildSampleConfig(folder) as { arms: Record<string, Plain | Plain[]> }).arms;
const buildUntunedArms = (): Plain =>
  Object.fromEntries(
    Object.entries(buildSampleArms()).map(([name, arm]) => {
      if (Array.isArray(arm)) return [name, arm];
      const { tune: _, ...untuned } = arm;
      return [name, untuned];
    }),
  );
const buildFirstArms = (): Plain => {
  const { newest, hybrid } = buildUntunedArms();
  return { newest, hybrid };
};

test('repetitions are idle where no stage depends on the seed, for any tuned value', async () => {
  const flat = { embedding: { encoder: 'use-lite' }, steps: [{ search: { flat: { k: 7 } } }] };
  const wanted = buildPlanConfig({
    seeds: 2,
    arms: {
      ...buildFirstArms(),
      flat,
      hnsw: { ...flat, steps: [{ search: { hnsw: { k: 7 } } }] },
      tuned: { ...flat, tune: { 'flat.index': ['flat', 'hnsw'] } },
      ringed: { from: 'flat', then: [{ blend: { rcp: {} } }] },
    },
    controls: ['permuted-order'],
    evaluation: { baseline: 'newest' },
  });
  const dataset = await loadDataset(wanted.dataset, { cacheFolder: null });
  const idle = findIdleRepetitions({ dataset, config: wanted, code: stageVersion });
  expect([...idle].sort()).toEqual([
    ['flat | seed: 4', 'flat'],
    ['newest | seed: 4', 'newest'],
    ['ringed | seed: 4', 'ringed'],
  ]);
});

test('a plan for a dataset without a query to evaluate is refused', async () => {
  const wanted = buildPlanConfig({ arms: buildUntunedArms() });
  const dataset = await loadDataset(wanted.dataset, { cacheFolder: null });
  const before = tf.memory().numTensors;
  const plan = () => planStages({ dataset: { ...dataset, queries: [] }, config: wanted, code: stageVersion });
  expect(plan).toThrow('has no query in split test');
  expect(tf.memory().numTensors).toBe(before);
});

describe('without tuning a plan says exactly', () => {
  test('what arms with encoders and seeds of their own execute', async () => {
    const untuned = buildUntunedArms();
    const own = Object.keys(untuned).map((name) => [`${name} 7`, { from: name, embedding: { dimension: 7 } }]);
    const arms = { ...untuned, ...Object.fromEntries(own), again: { from: 'hybrid', seed: 11 } };
    const wanted = buildPlanConfig({ arms });
    const { executions, exact } = await planConfig(wanted);
    expect([exact, executions]).toEqual([true, (await executeConfig(wanted)).counts]);
  });

  test('how often each stage is executed, and under which keys', async () => {
    const wanted = buildPlanConfig({ arms: buildUntunedArms() });
    const { executions, total, exact, known } = await planConfig(wanted);
    const { counts, keys } = await executeConfig(wanted);
    expect(exact).toBe(true);
    expect(executions).toEqual(counts);
    expect(total).toBe(Object.values(counts).reduce((sum, count) => sum + count, 0));
    const kept = known.filter(({ isKept }) => isKept).map(({ key }) => key);
    expect(kept.sort()).toEqual(keys);
  });

  test('that arms which differ in their weights cost nothing more', async () => {
    const { steps } = buildUntunedArms().hybrid as { steps: Plain[] };
    const hybrid = [...steps, { blend: { trajectory: {}, unified: {} } }];
    const weighted = [0.1, 0.5, 0.9].map((weight) => [
      `weight ${weight}`,
      [...steps, { blend: { trajectory: weight, unified: weight } }],
    ]);
    const one = await planConfig(buildPlanConfig({ arms: { hybrid } }));
    const four = await planConfig(buildPlanConfig({ arms: { hybrid, ...Object.fromEntries(weighted) } }));
    expect(four).toEqual(one);
  });

  test('what several seeds cost: only stages that the seed changes', async () => {
    const wanted = buildPlanConfig({ arms: buildFirstArms(), seeds: 3 });
    const { executions, exact } = await planConfig(wanted);
    expect([exact, executions]).toEqual([true, (await executeConfig(wanted)).counts]);
  });

  test('what null controls cost', async () => {
    const wanted = buildPlanConfig({ arms: buildUntunedArms(), controls: true });
    expect(wanted.arms.length).toBeGreaterThan(Object.keys(buildUntunedArms()).length);
    const { executions, exact } = await planConfig(wanted);
    expect([exact, executions]).toEqual([true, (await executeConfig(wanted)).counts]);
  });

  test('what one arm of several costs', async () => {
    const wanted = { ...buildPlanConfig({ arms: buildUntunedArms() }), only: ['hybrid'] };
    const { executions, exact } = await planConfig(wanted);
    expect([exact, executions]).toEqual([true, (await executeConfig(wanted)).counts]);
    expect(executions).not.toHaveProperty('propagated');
  });
});

describe('a plan is an upper bound, and what it knows for sure a lower one', () => {
  const buildStructuralArms = () => {
    const { propagated: _, ...arms } = buildSampleArms();
    return { ...arms, hybrid: { ...arms.hybrid, tune: { 'bm25.k': [5, 13], 'fuse.convex.hnsw': [0.2, 0.6] } } };
  };

  test.each<[string, number, () => ExperimentConfig]>([
    ['with tuned weights', 1.1, () => buildPlanConfig()],
    ['with tuned candidates', 1.2, () => buildPlanConfig({ arms: buildStructuralArms() })],
    ['with a race', 3, () => buildPlanConfig({ arms: buildUntunedArms(), evaluation: { race: { rounds: 3 } } })],
  ])('%s', async (_, times, wanted) => {
    const { executions, total, exact, known } = await planConfig(wanted());
    const { counts, keys } = await executeConfig(wanted());
    expect(exact).toBe(false);
    expect(Object.keys(executions)).toEqual(expect.arrayContaining(Object.keys(counts)));
    for (const [name, count] of Object.entries(counts)) {
      expect([name, executions[name]! >= count]).toEqual([name, true]);
      expect(known.filter((stage) => stage.name === name).length).toBeLessThanOrEqual(count);
    }
    expect(keys).toEqual(expect.arrayContaining(known.filter(({ isKept }) => isKept).map(({ key }) => key)));
    const real = Object.values(counts).reduce((sum, count) => sum + count, 0);
    expect(total).toBeLessThanOrEqual(times * real);
  });
});
