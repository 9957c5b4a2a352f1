import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { PROPAGATION_PRESETS } from '../attention/presets.ts';
import { useBackend } from '../core/backend.ts';
import { DimensionMismatchError, NotFiniteError, ValidationError } from '../core/errors.ts';
import { random } from '../core/random.ts';
import type { IndexOptions } from '../index/registry.ts';
import { SAMPLE_ARMS } from './sample-arms.ts';
import { DIMENSION, sampleVector, sampleWorkspace, sampleWorld } from './sample-corpus.ts';

beforeAll(() => useBackend('wasm'));
const world = sampleWorld(3);
const newest: IndexOptions = { index: 'newest', k: 5 };

/** Disposes the workspace and checks that nothing is left. */
async function withWorkspace(work: (workspace: ReturnType<typeof sampleWorkspace>) => Promise<void>): Promise<void> {
  const before = tf.memory().numTensors;
  const workspace = sampleWorkspace(world);
  try {
    await work(workspace);
  } finally {
    workspace.dispose();
  }
  expect(tf.memory().numTensors).toBe(before);
}

describe('what was computed once', () => {
  test('is computed once for each key, whatever the order of its fields', () =>
    withWorkspace(async (workspace) => {
      let calls = 0;
      const compute = () => ++calls;
      expect(await workspace.once({ a: 1, b: 2 }, compute)).toBe(1);
      expect(await workspace.once({ b: 2, a: 1 }, compute)).toBe(1);
      expect(await workspace.once({ a: 1, b: 3 }, compute)).toBe(2);
    }));

  test('is shared by those who ask at the same time', () =>
    withWorkspace(async (workspace) => {
      const [a, b] = await Promise.all([workspace.corpusTensor(), workspace.corpusTensor()]);
      expect(a).toBe(b);
      expect(a.shape).toEqual([103, 17]);
    }));

  test('is told apart by everything that it depends on', () =>
    withWorkspace(async (workspace) => {
      const flat: IndexOptions = { index: 'flat', k: 13 };
      const plain = await workspace.candidates(flat, null);
      expect(await workspace.candidates(flat, null)).toBe(plain);
      const framework = await workspace.candidates(flat, PROPAGATION_PRESETS.framework);
      expect(framework.positions).not.toEqual(plain.positions);
      expect((await workspace.candidates({ ...flat, k: 11 }, null)).width).toBe(11);
      // Only the exact index knows propagated rows, so the others are asked once.
      expect(await workspace.candidates(newest, PROPAGATION_PRESETS.framework)).toBe(
        await workspace.candidates(newest, null),
      );
    }));

  test('fails for everyone who asks', () =>
    withWorkspace(async (workspace) => {
      const fail = () => Promise.reject(new ValidationError('no'));
      await expect(workspace.once('x', fail)).rejects.toThrow('no');
      await expect(workspace.once('x', () => 1)).rejects.toThrow('no');
    }));
});

describe('a pool', () => {
  test('holds what any source found strictly before each query', () =>
    withWorkspace(async (workspace) => {
      const { candidates } = SAMPLE_ARMS.hybrid;
      const pool = await workspace.pool(SAMPLE_ARMS.hybrid);
      const found = await Promise.all(candidates.map((source) => workspace.candidates(source, null)));
      for (const [q, { timestamp }] of world.queries.entries()) {
        const row = [...pool.positions.subarray(q * pool.width, (q + 1) * pool.width)].filter((place) => place >= 0);
        const parts = found.flatMap(({ positions, width }) => [...positions.subarray(q * width, (q + 1) * width)]);
        expect(new Set(row)).toEqual(new Set(parts.filter((position) => position >= 0)));
        expect(new Set(row).size).toBe(row.length);
        for (const position of row) expect(workspace.corpus.timestamps[position]).toBeLessThan(timestamp);
      }
    }));

  test('of one channel holds only its turns, and of none only those without', () =>
    withWorkspace(async (workspace) => {
      const pool = await workspace.pool(SAMPLE_ARMS['same channel']);
      const channels = world.queries.map(({ channel }, q) => {
        const row = [...pool.positions.subarray(q * pool.width, (q + 1) * pool.width)].filter((place) => place >= 0);
        for (const position of row) expect(workspace.corpus.turns[position]?.channel).toBe(channel);
        return row.length > 0 ? channel : 'empty';
      });
      expect(new Set(channels).size).toBeGreaterThan(2);
    }));
});

test('queries see the prefix of the corpus that is strictly earlier, and hang from their anchors', () =>
  withWorkspace(async (workspace) => {
    const { points } = await workspace.frames();
    for (const [q, query] of world.queries.entries()) {
      const earlier = world.turns.filter(({ timestamp }) => timestamp < query.timestamp);
      expect(workspace.batch.cutoffs[q]).toBe(earlier.length);
      expect(workspace.corpus.turns[points.anchors[q] as number]?.id ?? null).toBe(query.anchorTurnId);
    }
    expect(points.anchors).toContain(-1);
  }));

describe('vectors are refused', () => {
  const [turn, query] = [world.turns[5], world.queries[3]] as [{ id: string }, { id: string }];
  const withVector = (id: string, vector: Float32Array) => () =>
    sampleWorkspace({ ...world, vectorOf: new Map([...world.vectorOf, [id, vector]]) });
  const unit = sampleVector(random(1, 'workspace.test'));

  test.each([
    [
      'with NaN in a turn',
      turn,
      unit.with(3, Number.NaN),
      NotFiniteError,
      `vector is not finite at turn ${turn.id}: NaN`,
    ],
    [
      'with infinity in a query',
      query,
      unit.with(0, Infinity),
      NotFiniteError,
      `vector is not finite at query ${query.id}: Infinity`,
    ],
    [
      'of another length',
      query,
      unit.map((value) => 2 * value),
      ValidationError,
      `vector of query ${query.id} must have length 1 or be zero: `,
    ],
    [
      'of another dimension',
      turn,
      unit.subarray(1),
      DimensionMismatchError,
      `numbers in the turn vectors: expected ${103 * DIMENSION}, got ${103 * DIMENSION - 1}`,
    ],
  ])('%s', (_, { id }, vector, error, message) => {
    expect(withVector(id, vector)).toThrow(error);
    expect(withVector(id, vector)).toThrow(message);
  });
});

describe('after it is disposed', () => {
  test('everything is refused', async () => {
    const workspace = sampleWorkspace(world);
    await workspace.corpusTensor();
    workspace.dispose();
    workspace.dispose();
    for (const use of [
      () => workspace.corpusTensor(),
      () => workspace.candidates(newest, null),
      () => workspace.pool(SAMPLE_ARMS.bm25),
      () => workspace.frames(),
      () => workspace.propagated(PROPAGATION_PRESETS.published),
    ]) {
      await expect(use()).rejects.toThrow(ValidationError);
      await expect(use()).rejects.toThrow('workspace was disposed');
    }
  });

  test('what was under way is refused too, and leaves no tensor', async () => {
    const before = tf.memory().numTensors;
    const workspace = sampleWorkspace(world);
    const waiting = workspace.corpusTensor();
    workspace.dispose();
    await expect(waiting).rejects.toThrow('workspace was disposed: "corpus tensor"');
    expect(() => workspace.own(tf.zeros([2, 3]))).toThrow('workspace was disposed');
    expect(tf.memory().numTensors).toBe(before);
  });
});
