import * as tf from '@tensorflow/tfjs-core';
import type { TensorOps } from '../../core/tensors/tensor-op.harness.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import { joinCandidates } from '../signals/stage.ts';
import type { Workspace } from '../signals/workspace.ts';
import { parseArm, SAMPLE_STEPS } from './arms.fixture.ts';
import { blendScores, divideScoresByRowMaximum } from './blend.ts';
import { candidatesFrom, findPool, poolRows } from './candidate-sources.ts';
import { rank, selectTop } from './rank.ts';
import { retrieve, warmUp } from './retriever.ts';
import { type RankOptions, readArm } from './written-steps.ts';

const uploadRow = (...values: number[]) => tf.tensor2d(values, [1, values.length]);
const world = drawSampleWorld(3, 23, 3, 2);

/** Scores of an arm with everything, and what was put together for them. */
async function useSampleWorkspace<T>(work: (workspace: Workspace) => Promise<T>): Promise<T> {
  const workspace = createSampleWorkspace(world);
  try {
    return await work(workspace);
  } finally {
    workspace.dispose();
  }
}

const written = {
  ...SAMPLE_STEPS['propagation, framework'],
  blend: { trajectory: {}, unified: { mode: 'directed' } },
  select: { mmr: { k: 5, lambda: 0.7 } },
};
const whole = parseArm(written);

/** One query with candidates at the positions, -1 for padding. */
const buildPoolAt = (...positions: number[]) => {
  const found = { positions: Int32Array.from(positions), scores: new Float32Array(positions.length) };
  const stage = { name: 'pool', key: positions.join(' '), inputs: [], isKept: true };
  return {
    ...joinCandidates(
      [{ ...found, width: positions.length }],
      1,
      (a, b) => a - b,
      () => true,
    ),
    width: positions.length,
    stage,
  };
};
const buildPaddedPool = (...positions: number[]) => ({
  ...buildPoolAt(...positions),
  positions: Int32Array.from(positions),
});
const rankPadded = (positions: number[], scores: number[], depth: number) =>
  rank(buildPaddedPool(...positions), Float32Array.from(scores), depth, (_, position) => `turn ${position}`);
const selectPadded = (positions: number[], scores: number[], k = 3) =>
  useSampleWorkspace((workspace) =>
    selectTop(workspace, buildPaddedPool(...positions), Float32Array.from(scores), { method: 'mmr', k, lambda: 1 }),
  );

export const TENSOR_OPS: TensorOps = {
  blendScores: {
    use: (own) => blendScores(own(uploadRow(1, 2)), own(uploadRow(4, 1)), 0.5),
    refuses: [[(own) => blendScores(own(uploadRow(1, 2)), own(uploadRow(4)), 0.5), /shape of signal/]],
    edges: {
      'zero vectors': [(own) => blendScores(own(uploadRow(0, 0)), own(uploadRow(4, 1)), 0.5), [0.5, 0.125]],
      'one turn': [(own) => blendScores(own(uploadRow(7)), own(uploadRow(4)), 0.5), [1]],
    },
  },
  divideScoresByRowMaximum: {
    use: (own) => divideScoresByRowMaximum(own(uploadRow(1, 2))),
    refuses: [[(own) => divideScoresByRowMaximum(own(tf.zeros([3])) as never), /shape of scores/]],
    edges: {
      'zero vectors': [(own) => divideScoresByRowMaximum(own(uploadRow(0, 0))), [0, 0]],
      'one turn': [(own) => divideScoresByRowMaximum(own(uploadRow(7))), [1]],
    },
  },
  rank: {
    use: () => rankPadded([1, 2, 3, -1], [5, 7, 6, 0], 2),
    refuses: [
      [() => rankPadded([1, 2], [5, Number.NaN], 2), /score is not finite at turn 2: NaN/],
      [() => rankPadded([1, 2], [5, 7], 0), /depth is not a positive integer: 0; pass a whole number from 1/],
      [() => rankPadded([1, 2], [5, 7, 9], 1), /scores of a pool: expected 2, got 3/],
    ],
    edges: {
      duplicates: [() => rankPadded([1, 2, 3], [5, 5, 5], 3), [0, 1, 2, 5, 5, 5, 3]],
      'one turn': [() => rankPadded([1], [5], 1), [0, 5, 1]],
      'K > C': [async () => (await rankPadded([1, -1], [5, 0], 7)).slots, [0, -1]],
      'all masked': [async () => (await rankPadded([-1, -1], [5, 0], 2)).slots, [-1, -1]],
    },
  },
  retrieve: {
    use: () => useSampleWorkspace(async (workspace) => [...(await retrieve(workspace, whole)).components.values()]),
    refuses: [
      [
        () =>
          useSampleWorkspace((workspace) =>
            retrieve(workspace, { ...whole, decay: { halfLifeHours: 0 } } as RankOptions),
          ),
        /decay\.halfLifeHours: expected number > 0, got 0/,
      ],
    ],
  },
  selectTop: {
    use: () => selectPadded([1, 2, 3, 4], [5, 7, 6, 1]),
    refuses: [[() => selectPadded([1, 2], [5, Number.NaN]), /score is not finite at query q\d, turn /]],
    edges: {
      'zero vectors': [() => selectPadded([1, 2], [0, 0]), [2, 1]],
      duplicates: [() => selectPadded([3, 3, 3], [5, 5, 5]), [3, 2, 1]],
      'one turn': [() => selectPadded([3], [5]), [1]],
      'all masked': [() => selectPadded([-1, -1], [0, 0]), [0, 0]],
      'K > C': [() => selectPadded([3, 4, -1], [5, 6, 0], 7), [1, 2, 0]],
    },
  },
  candidatesFrom: {
    use: () =>
      useSampleWorkspace(
        async (workspace) => (await workspace.get(candidatesFrom({ index: 'newest', k: 3 }, null))).scores,
      ),
    refuses: [],
  },
  findPool: {
    use: () =>
      useSampleWorkspace(async (workspace) => (await findPool(workspace, null, readArm(whole).outline)).positions),
    refuses: [],
  },
  poolRows: {
    use: () =>
      useSampleWorkspace(async (workspace) => (await workspace.get(poolRows(readArm(whole).outline))).positions),
    refuses: [],
  },
  warmUp: {
    use: () =>
      useSampleWorkspace(async (workspace) => {
        const some = workspace.withQueries([0]);
        await warmUp(some, whole);
        some.dispose();
        return workspace.dimension;
      }),
    refuses: [],
  },
};
