import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import type { TensorOps } from '../core/tensor-op.harness.ts';
import { parse } from '../core/validation.ts';
import { poolOf } from '../signals/candidate-pool.ts';
import { sampleWorkspace, sampleWorld } from '../signals/corpus.fixture.ts';
import type { Workspace } from '../signals/workspace.ts';
import { armStages } from './arm-signals.ts';
import { SAMPLE_ARMS } from './arms.fixture.ts';
import { blend, byRowMaximum } from './blend.ts';
import { candidatesFrom, findPool, poolRows, warmUp } from './candidate-sources.ts';
import { controlsFor } from './null-controls.ts';
import { rank } from './rank.ts';
import { retrieve } from './retriever.ts';
import { assertRetriever, type RetrieverOptions, retrieverOptions } from './retriever-options.ts';
import { selectTop } from './select-top.ts';

const row = (...values: number[]) => tf.tensor2d(values, [1, values.length]);
const world = sampleWorld(3, 23, 3, 2);

/** Scores of an arm with everything, and what was put together for them. */
async function within<T>(work: (workspace: Workspace) => Promise<T>): Promise<T> {
  const workspace = sampleWorkspace(world);
  try {
    return await work(workspace);
  } finally {
    workspace.dispose();
  }
}

const whole: RetrieverOptions = {
  ...SAMPLE_ARMS['propagation, framework'],
  attention: SAMPLE_ARMS.unified.attention,
  selection: { method: 'mmr', k: 5, lambda: 0.7 },
};

/** One query with candidates at the positions, -1 for padding. */
const pool = (...positions: number[]) => {
  const found = { positions: Int32Array.from(positions), scores: new Float32Array(positions.length) };
  const turns = Int32Array.from({ length: 23 }, (_, position) => position);
  const stage = { name: 'pool', key: positions.join(' '), inputs: [], isKept: true };
  return { ...poolOf([{ ...found, width: positions.length }], 1, turns, () => true), width: positions.length, stage };
};
const padded = (...positions: number[]) => ({ ...pool(...positions), positions: Int32Array.from(positions) });
const ranked = (positions: number[], scores: number[], depth: number) =>
  rank(padded(...positions), Float32Array.from(scores), depth, (_, position) => `turn ${position}`);
const selected = (positions: number[], scores: number[], k = 3) =>
  within((workspace) =>
    selectTop(workspace, padded(...positions), Float32Array.from(scores), { method: 'mmr', k, lambda: 1 }),
  );

export const TENSOR_OPS: TensorOps = {
  blend: {
    use: (own) => blend(own(row(1, 2)), own(row(4, 1)), 0.5),
    refuses: [[(own) => blend(own(row(1, 2)), own(row(4)), 0.5), /shape of signal/]],
    edges: {
      'zero vectors': [(own) => blend(own(row(0, 0)), own(row(4, 1)), 0.5), [0.5, 0.125]],
      'one turn': [(own) => blend(own(row(7)), own(row(4)), 0.5), [1]],
    },
  },
  byRowMaximum: {
    use: (own) => byRowMaximum(own(row(1, 2))),
    refuses: [[(own) => byRowMaximum(own(tf.zeros([3])) as never), /shape of scores/]],
    edges: {
      'zero vectors': [(own) => byRowMaximum(own(row(0, 0))), [0, 0]],
      'one turn': [(own) => byRowMaximum(own(row(7))), [1]],
    },
  },
  rank: {
    use: () => ranked([1, 2, 3, -1], [5, 7, 6, 0], 2),
    refuses: [
      [() => ranked([1, 2], [5, Number.NaN], 2), /score is not finite at turn 2: NaN/],
      [() => ranked([1, 2], [5, 7], 0), /depth is not a positive integer: 0; pass a whole number from 1/],
      [() => ranked([1, 2], [5, 7, 9], 1), /scores of a pool: expected 2, got 3/],
    ],
    edges: {
      duplicates: [() => ranked([1, 2, 3], [5, 5, 5], 3), [0, 1, 2, 5, 5, 5, 3]],
      'one turn': [() => ranked([1], [5], 1), [0, 5, 1]],
      'K > C': [async () => (await ranked([1, -1], [5, 0], 7)).places, [0, -1]],
      'all masked': [async () => (await ranked([-1, -1], [5, 0], 2)).places, [-1, -1]],
    },
  },
  retrieve: {
    use: () => within(async (workspace) => [...(await retrieve(workspace, whole)).components.values()]),
    refuses: [
      [
        () => within((workspace) => retrieve(workspace, { ...whole, decay: { halfLifeHours: 0 } })),
        /decay\.halfLifeHours: expected number > 0, got 0/,
      ],
    ],
  },
  selectTop: {
    use: () => selected([1, 2, 3, 4], [5, 7, 6, 1]),
    refuses: [[() => selected([1, 2], [5, Number.NaN]), /score is not finite at query q\d, turn /]],
    edges: {
      'zero vectors': [() => selected([1, 2], [0, 0]), [2, 1]],
      duplicates: [() => selected([3, 3, 3], [5, 5, 5]), [3, 2, 1]],
      'one turn': [() => selected([3], [5]), [1]],
      'all masked': [() => selected([-1, -1], [0, 0]), [0, 0]],
      'K > C': [() => selected([3, 4, -1], [5, 6, 0], 7), [1, 2, 0]],
    },
  },
  assertRetriever: {
    use: () => parse(retrieverOptions.superRefine(assertRetriever), plain(['bm25']), 'sample').candidates.length,
    refuses: [
      [() => parse(z.pipe(retrieverOptions, z.any()), plain(['soup']), 'sample'), /in sample/],
      [
        () => parse(retrieverOptions.superRefine(assertRetriever), plain(['bm25', 'bm25']), 'sample'),
        /each signal once/,
      ],
    ],
  },
  armStages: { use: () => within(async ({ plan }) => armStages(plan, whole).length), refuses: [] },
  candidatesFrom: {
    use: () =>
      within(async (workspace) => (await workspace.get(candidatesFrom({ index: 'newest', k: 3 }, null))).scores),
    refuses: [],
  },
  findPool: {
    use: () => within(async (workspace) => (await findPool(workspace, whole)).positions),
    refuses: [],
  },
  poolRows: { use: () => within(async (workspace) => (await workspace.get(poolRows(whole))).positions), refuses: [] },
  warmUp: {
    use: () =>
      within(async (workspace) => {
        const some = workspace.withQueries([0]);
        await warmUp(some, whole);
        some.dispose();
        return workspace.dimension;
      }),
    refuses: [],
  },
  controlsFor: { use: () => controlsFor(whole).length, refuses: [] },
};

function plain(signals: readonly string[]): object {
  return { candidates: [{ index: 'bm25' }], relevance: { signals, fusion: { method: 'pool-rrf' } } };
}
