import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { applyOverrides, type Plain } from '../composition/config-file.ts';
import { resolveConfig } from '../config/config.ts';
import type { ArmRecord } from './arm-record.ts';
import { type ArmRunner, openArmRunner } from './arm-runner.ts';
import { buildSampleConfig, writeSampleJsonl } from './jsonl.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-runner-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(async () => {
  await useBackend('wasm');
  writeSampleJsonl(folder);
});
const resolveSampleConfig = (...overrides: string[]) =>
  resolveConfig(applyOverrides(buildSampleConfig(folder) as Plain, overrides), 'sample');
const open = (cache: string, ...overrides: string[]) =>
  openArmRunner(resolveSampleConfig(...overrides), { cacheFolder: join(folder, cache) });

describe('an arm', () => {
  let runner: ArmRunner;
  const shares: number[] = [];
  let decayed: ArmRecord;
  beforeAll(async () => {
    runner = await open('cache', 'evaluation.depth=11', 'evaluation.inspect=3');
    decayed = await runner.run('Decayed × 2', (share) => void shares.push(share));
  });
  afterAll(() => runner.dispose());

  test('tells how much is done of its chain of tunings and its own ranking', () => {
    expect(shares).toEqual([1 / 5, 2 / 5, 3 / 5, 4 / 5]);
  });

  test('measures each point of its chain once on the queries of dev', () => {
    expect(decayed.stages['tuning-value']).toMatchObject({ executed: 4, memory: 0, disk: 0 });
    expect(Object.keys(decayed.tuned)).toEqual(['fuse.convex.hnsw', 'decay.halfLifeHours']);
  });

  test('is ranked for every evaluated query as deep as is asked for', () => {
    expect(runner.queries).toHaveLength(14);
    expect(decayed).toMatchObject({ name: 'Decayed × 2', depth: 11, inspected: 3, latency: null });
    expect(decayed.positions).toHaveLength(14 * 11);
    expect(decayed.components).toHaveLength(14 * 3 * decayed.componentNames.length);
    const relevant = runner.queries.flatMap(({ id }) => [...(runner.dataset.qrels.get(id) ?? [])]);
    expect(decayed.losses).toHaveLength(relevant.length);
  });

  test('finds the same after another arm has, from the cache alone', async () => {
    const again = await open('cache', 'evaluation.depth=11', 'evaluation.inspect=3');
    try {
      await again.run('unified');
      const { stages, seconds: _, ...found } = await again.run('Decayed × 2');
      const { stages: __, seconds: ___, ...first } = decayed;
      expect(found).toEqual(first);
      expect(Object.values(stages).reduce((sum, { executed }) => sum + executed, 0)).toBe(0);
    } finally {
      await again.dispose();
    }
  });

  test('is run under another config on the same data', async () => {
    const other = runner.withConfig(resolveSampleConfig('evaluation.depth=10', 'evaluation.limitQueries=7'));
    try {
      expect(other.dataset).toBe(runner.dataset);
      const { depth, positions } = await other.run('newest');
      expect([depth, positions.length]).toEqual([10, 7 * 10]);
      const ranked = other.queries.map((_, q) => [...positions.subarray(q * 10, q * 10 + 10)]);
      const { positions: deeper } = await runner.run('newest');
      const places = other.queries.map(({ id }) => runner.queries.findIndex((query) => query.id === id));
      expect(ranked).toEqual(places.map((q) => [...deeper.subarray(q * 11, q * 11 + 10)]));
    } finally {
      await other.dispose();
    }
  });

  test('that there is none of is an error', async () => {
    await expect(runner.run('nobody')).rejects.toThrow(
      new ValidationError('experiment has no arm: nobody; use the name of one of its arms', { name: 'nobody' }),
    );
  });
});

test('arms are timed where it is asked for, but no null control', async () => {
  const overrides = ['evaluation.latency={queries: 2, warmUp: 1}', 'controls=true'];
  const control = resolveSampleConfig(...overrides).arms.find((arm) => arm.control !== null);
  const timed = await open('cache', ...overrides);
  try {
    expect((await timed.run('newest')).latency?.total?.p50).toBeGreaterThan(0);
    expect((await timed.run(control?.name as string)).latency).toBeNull();
  } finally {
    await timed.dispose();
  }
});

test('what is disposed leaves no tensor, also where a workspace could not be opened', async () => {
  const before = tf.memory().numTensors;
  const runner = await open('cache', 'tuning.holdout=0.001');
  await expect(runner.prepare(resolveSampleConfig().arms)).rejects.toThrow(ValidationError);
  await runner.openArmWorkspace();
  await runner.run('newest');
  await runner.dispose();
  expect(tf.memory().numTensors).toBe(before);
});

test('an experiment whose arms compare no vectors needs none, and another one embeds', async () => {
  const path = join(folder, 'turns.npy');
  writeFileSync(path, 'vectors that words do not read');
  const unread = `embedding={ encoder: precomputed, turns: ${path}, queries: ${path} }`;
  const words = await open('words', unread, `arms={${ALONE}}`, 'evaluation.baseline=newest');
  const arms = `arms={${ALONE}, cosine: [search: { flat: {} }]}`;
  const both = await open('words', unread, arms, 'evaluation.baseline=newest');
  try {
    expect((await words.run('newest')).positions.length).toBeGreaterThan(0);
    await expect(both.run('cosine')).rejects.toThrow('is not an npy file');
  } finally {
    await words.dispose();
    await both.dispose();
  }
});

describe('an arm with an encoder or a seed of its own', () => {
  const OTHER = 'other: { embedding: { dimension: 7 }, steps: [search: { flat: { k: 17 } }] }';

  test('is ranked as in an experiment that has them', async () => {
    const mixed = await open('own', `arms={${ALONE}, ${OTHER}}`, 'evaluation.baseline=newest');
    const pure = await open(
      'pure',
      `arms={${ALONE}, ${OTHER.replace('embedding: { dimension: 7 }, ', '')}}`,
      'embedding.dimension=7',
      'evaluation.baseline=newest',
    );
    try {
      const [got, known] = [await mixed.run('other'), await pure.run('other')];
      expect(got.positions).toEqual(known.positions);
      expect(got.scores).toEqual(known.scores);
      const [own, shared] = [await mixed.openArmWorkspace(got.options), await mixed.openArmWorkspace()];
      expect([own.dimension, shared.dimension]).toEqual([7, 0]); // newest compares no vectors
      expect(await mixed.openArmWorkspace({ embedding: null, seed: null })).toBe(shared);
    } finally {
      await mixed.dispose();
      await pure.dispose();
    }
  });

  test('has the vectors that the arm that it extends is tuned with', async () => {
    const parent = `parent: { steps: [search: { flat: {}, newest: {} }, fuse: { convex: { flat: 0.8, newest: rest } }], tune: { fuse.convex.flat: [0.1, 0.9] } }`;
    const child = 'child: { from: parent, embedding: { dimension: 7 } }';
    const runner = await open(
      'tuned',
      `arms={${ALONE}, ${parent}, ${child}}`,
      'evaluation.baseline=newest',
      'only=[newest, child]',
    );
    try {
      const { tuned } = await runner.run('child');
      expect([0.1, 0.9]).toContain(tuned['fuse.convex.flat']);
      expect((await runner.openArmWorkspace()).turnVectors.length).toBeGreaterThan(0);
    } finally {
      await runner.dispose();
    }
  });
});
const ALONE = 'newest: [search: { newest: { k: 19 } }]';
