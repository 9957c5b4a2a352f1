import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { groupIntoClusters } from '../../eval/intervals/mean-intervals.ts';
import { openMemory } from '../../memory/engine/open-memory.ts';
import { type Turn, toMemoryRecord } from '../../model/turns/turn.ts';
import { ConservationStream } from '../../ops/conservation/conservation-stream.ts';
import { rankArm } from '../../rank/retrieval/retriever.ts';
import { createSampleWorkspace, DIMENSION, drawSampleWorld } from '../../rank/signals/corpus.fixture.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import { resolveConfig } from '../config/config.ts';
import type { ArmOptions } from '../config/config-schema.ts';
import { measureConservation, type RecordedConservation, summariseConservation } from './conservation.ts';

const world = drawSampleWorld(37, 211, 29);
/** The same turns without what makes some weigh more. */
const plain = { ...world, turns: world.turns.map(({ attributes: _, ...turn }) => turn) };
const K = 5;
const DEPTH = 23;
let workspace: Workspace;
beforeAll(async () => {
  await useBackend('wasm');
  workspace = createSampleWorkspace(world);
});
afterAll(() => workspace.dispose());

function buildArm(steps: readonly object[]): ArmOptions {
  const config = {
    name: 'conserved',
    dataset: { name: 'jsonl', path: '.' },
    embedding: { encoder: 'lsa', dimension: DIMENSION },
    evaluation: { baseline: 'arm' },
    arms: { arm: steps },
  };
  return resolveConfig(config, 'test').arms[0] as ArmOptions;
}

async function measure(owner: Workspace, steps: readonly object[]) {
  const arm = buildArm(steps);
  const ranked = await rankArm(owner, arm, DEPTH);
  return { ranked, measured: await measureConservation(owner, arm, ranked, K) };
}

/** `turns, M, E, I` of a set of a query. */
function readKept({ sets, values }: RecordedConservation, query: number, set: string): number[] {
  const start = (query * sets.length + sets.indexOf(set as (typeof sets)[number])) * 4;
  return [...values.subarray(start, start + 4)];
}

/** The salience of docs/conservation.md, without age. */
function weigh({ attributes = {} }: Pick<Turn, 'attributes'>): number {
  const { memoryType, useCount = 0 } = attributes as { memoryType?: string; useCount?: number };
  const usual = memoryType === 'procedural' ? 0.8 : memoryType === 'summary' ? 0.9 : 0.5;
  return ((attributes.importance as number | undefined) ?? usual) * (1 + Math.log(1 + useCount));
}

/** The figures of some turns in a stream of their own. */
function stream(turns: readonly Turn[]): number[] {
  const own = new ConservationStream(DIMENSION);
  for (const turn of turns) own.add(turn.id, world.vectorOf.get(turn.id) as Float32Array, weigh(turn));
  if (own.salience === 0) return [turns.length, 0, 0, 0];
  const { magnitude, energy, information } = own.computeStreamMetrics();
  return [turns.length, magnitude, energy, information];
}

function expectClose(got: readonly number[], expected: readonly number[], tolerance: number, where: string): void {
  expect(got.length).toBe(expected.length);
  for (const [i, value] of expected.entries())
    expect(Math.abs((got[i] as number) - value), `figure ${i} of ${where}`).toBeLessThan(tolerance);
}

const BM25 = [{ search: { bm25: { k: 31 } } }];

describe('the memory of a query', () => {
  test('is that of a stream of the earlier turns at its moment', async () => {
    const { measured } = await measure(workspace, BM25);
    const inTime = world.turns.toSorted((a, b) => a.timestamp - b.timestamp);
    const memory = new ConservationStream(DIMENSION);
    let next = 0;
    for (const [query, { timestamp }] of world.queries.entries()) {
      for (; (inTime[next]?.timestamp ?? timestamp) < timestamp; next++) {
        const turn = inTime[next] as Turn;
        memory.add(turn.id, world.vectorOf.get(turn.id) as Float32Array, weigh(turn));
      }
      const { count, magnitude, energy, information } = memory.computeStreamMetrics();
      expect(count).toBeGreaterThan(0);
      expectClose(readKept(measured, query, 'memory'), [count, magnitude, energy, information], 1e-9, `query ${query}`);
    }
    expect(measured.weights).toBe('salience');
  });

  test('is that of a live memory of the same turns', async () => {
    const { measured } = await measure(workspace, BM25);
    const last = world.queries.length - 1;
    const { timestamp } = world.queries[last] as (typeof world.queries)[number];
    const memory = await openMemory({ folder: null, dimension: DIMENSION, conservation: { mode: 'warn' } });
    const earlier = world.turns.filter((turn) => turn.timestamp < timestamp);
    await memory.addBatch(
      earlier.map((turn) => toMemoryRecord(turn, { embedding: world.vectorOf.get(turn.id) as Float32Array })),
    );
    const { count = 0, magnitude = 0, energy = 0, information = 0 } = memory.conservation.measure() ?? {};
    await memory.close();
    expectClose(readKept(measured, last, 'memory'), [count, magnitude, energy, information], 1e-9, 'the last query');
  });

  test('has no turn that a filter before the search hides, nor one of another conversation than is asked', async () => {
    const filtered = await measure(workspace, [{ filter: 'channel = "bakery"' }, ...BM25]);
    const asking = {
      ...world,
      queries: world.queries.map((query, i) => (i % 2 === 0 ? { ...query, conversationId: query.cluster } : query)),
    };
    const own = createSampleWorkspace(asking);
    const asked = await measure(own, BM25);
    own.dispose();
    for (const [query, { timestamp, conversationId }] of asking.queries.entries()) {
      const earlier = world.turns.filter((turn) => turn.timestamp < timestamp);
      const bakery = earlier.filter(({ channel }) => channel === 'bakery');
      const ofAsked = earlier.filter((turn) => (conversationId ?? turn.conversationId) === turn.conversationId);
      expectClose(readKept(filtered.measured, query, 'memory'), stream(bakery), 1e-9, `the filter, query ${query}`);
      expectClose(readKept(asked.measured, query, 'memory'), stream(ofAsked), 1e-9, `conversations, query ${query}`);
    }
  });
});

describe('what a query was shown', () => {
  const find = (positions: Iterable<number>) =>
    Array.from(positions).flatMap((position) => (position < 0 ? [] : [workspace.corpus.turns[position] as Turn]));

  test('is its pool, its first ranks, and what the step pack keeps of it', async () => {
    const { ranked, measured } = await measure(workspace, [...BM25, { decay: 24 }, { pack: 60 }]);
    const { pool } = ranked.retrieved;
    expect(measured.sets).toEqual(['memory', 'pool', 'first', 'context']);
    for (const query of world.queries.keys()) {
      const row = pool.positions.subarray(query * pool.width, (query + 1) * pool.width);
      const slots = ranked.ranking.slots.subarray(query * DEPTH, (query + 1) * DEPTH).filter((slot) => slot >= 0);
      expect(slots.length).toBeLessThan(DEPTH);
      const packed = Int32Array.from(slots, (slot) => row[slot] as number);
      const sets = { pool: find(row), first: find(packed.subarray(0, K)), context: find(packed) };
      for (const [set, turns] of Object.entries(sets))
        expectClose(readKept(measured, query, set), stream(turns), 2e-6, `${set} of query ${query}`);
    }
  });

  test('has no context without a step pack; turns without attributes weigh the same', async () => {
    const own = createSampleWorkspace(plain);
    const before = tf.memory().numTensors;
    const { measured } = await measure(own, BM25);
    expect([measured.sets, measured.weights]).toEqual([['memory', 'pool', 'first'], 'uniform']);
    expect(readKept(measured, 0, 'first')[3]).toBeCloseTo(Math.log(readKept(measured, 0, 'first')[0] as number), 6);
    own.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
});

test('means are over the measured queries, with intervals over their conversations', async () => {
  const values = Float64Array.from({ length: 4 * 2 * 4 }, (_, i) => i);
  const recorded = { k: K, weights: 'uniform', sets: ['memory', 'first'], values } as const;
  const clusters = groupIntoClusters(['a', 'b', 'c']);
  const { means, perQuery } = summariseConservation(recorded, [0, 1, 3], clusters, {
    samples: 199,
    level: 0.95,
    seed: 3,
  });
  expect(perQuery.memory).toEqual({
    turns: [0, 8, 24],
    magnitude: [1, 9, 25],
    energy: [2, 10, 26],
    coherence: [4, 20, 52],
    information: [3, 11, 27],
  });
  expect(means.first?.magnitude.mean).toBeCloseTo((5 + 13 + 29) / 3, 12);
  expect(means.first?.magnitude.low).toBeLessThan(5);
});
