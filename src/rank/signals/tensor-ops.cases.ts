import * as tf from '@tensorflow/tfjs-core';
import { RowBlocks } from '../../core/tensors/row-blocks.ts';
import type { Own, TensorOps } from '../../core/tensors/tensor-op.harness.ts';
import { BM25_DEFAULTS } from '../../index/words/bm25.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { attentionSignal } from './attention.ts';
import { forwardAttention, mixUnifiedScores } from './attention-columns.ts';
import { signalBankOptions } from './bank/options.ts';
import { signalTable } from './bank/signal-bank.ts';
import { bm25Signal } from './bm25.ts';
import { buildNewestPool } from './columns.harness.ts';
import { createSampleWorkspace, drawSampleWorld } from './corpus.fixture.ts';
import { computeCandidateCosines, computeHostCosines, computePairCosines, cosineSignal } from './cosine.ts';
import { decaySignal } from './decay.ts';
import { buildForwardCosines, type ForwardCosines } from './forward-mass.ts';
import { recencySignal } from './recency.ts';
import type { Signal } from './signal.ts';
import { attentionOptions, TRAJECTORY_DEFAULTS } from './signal-options.ts';
import { joinCandidates } from './stage.ts';
import { strategySignal, weighByQuery } from './strategy.ts';
import { trajectorySignal } from './trajectory.ts';
import { blendTrajectory, trajectoryScore } from './trajectory-score.ts';
import type { Workspace } from './workspace.ts';

const row = (...values: number[]) => tf.tensor2d(values, [1, values.length]);
const places = (...values: number[]) => tf.tensor2d(values, [1, values.length], 'int32');

const unit = Float32Array.of(1, 0, 0, 1, 0, 0);
const cosines = (own: Own, query: number[], ...positions: number[]) =>
  computeCandidateCosines(own(new RowBlocks(unit, 2)), own(row(...query)), own(places(...positions)));
const onHost = (query: number[], ...positions: number[]) =>
  computeHostCosines({ vectors: unit, dimension: 2 }, Float32Array.from(query), Int32Array.from(positions));
/** Cosines with `count` vectors: from a number of vectors on, a loop over the candidates is cheaper. */
const paired = (own: Own, count: number, query: number[], ...positions: number[]) => {
  const vectors = new Float32Array(2 * count);
  vectors.set(unit);
  const blocks = async () => own(new RowBlocks(vectors, 2));
  return computePairCosines({ vectors, dimension: 2, blocks }, Float32Array.from(query), Int32Array.from(positions));
};

const corpus = new Corpus(
  ['a', 'b', 'c'].map((id, i) => {
    return { id, conversationId: 'x', parentId: null, timestamp: i, author: null, channel: null, text: id };
  }),
);
const lone = new Corpus(corpus.turns.slice(0, 1));
const tables = async ({ size }: Corpus, rows: number[]) => {
  const built = await buildForwardCosines(Float32Array.from(rows), [size], 1);
  const { next, first } = built[0] as ForwardCosines;
  return { next: next.subarray(0, 2 * size - 1), first }; // the last turn has no next
};

const world = drawSampleWorld(3, 23, 3, 2);

async function within<T>(work: (workspace: Workspace) => Promise<T>): Promise<T> {
  const workspace = createSampleWorkspace(world);
  try {
    return await work(workspace);
  } finally {
    workspace.dispose();
  }
}

/** A signal of the newest turns. */
const scored = (use: Signal) => within(async (workspace) => workspace.get(use, await buildNewestPool(workspace, 5)));
const bank = (options: object) =>
  within(async (workspace) => {
    const use = signalTable(signalBankOptions.parse(options));
    return (await workspace.get(use, await buildNewestPool(workspace, 5))).values;
  });
const attentionUse = { attention: attentionOptions.parse({ mechanism: 'unified' }), trajectory: null };

const weigh = (own: Own, signals: number[][], weights: number[]) =>
  weighByQuery(
    own(tf.tensor3d(signals.flat(), [1, signals.length, 2])),
    own(row(...weights)),
    own(row(...signals.map(() => 1.15))),
  );

export const TENSOR_OPS: TensorOps = {
  weighByQuery: {
    use: (own) =>
      weigh(
        own,
        [
          [1, 0],
          [0.5, 0.5],
        ],
        [0.6, 0.4],
      ), // prettier-ignore
    refuses: [[(own) => weigh(own, [[1, 0]], [1, 0, 0]), /shape of weights/]],
    edges: {
      'one turn': [(own) => weigh(own, [[1, 1]], [0.6, 0.4]), [1.15]],
      'zero vectors': [(own) => weigh(own, [[0, 0]], [0.6, 0.4]), [0]],
    },
  },
  mixUnifiedScores: {
    use: (own) => {
      const [rcp, ircp, tpo] = [own(row(1, 2)), own(row(3, 4)), own(row(5, 6))];
      return mixUnifiedScores({ rcp, ircp, tpo }, { rcp: 0.4, ircp: 0.4, tpo: 0.2 });
    },
    refuses: [
      [
        (own) => {
          const part = own(row(1, 2));
          return mixUnifiedScores({ rcp: part, ircp: part, tpo: part }, { rcp: 1, ircp: 1, tpo: 1 });
        },
        /invalid mix: /,
      ],
    ],
  },
  computeCandidateCosines: {
    use: (own) => cosines(own, [3, 4], 0, 1, -1),
    refuses: [[(own) => cosines(own, [3, 4, 5], 0), /shape of queries/]],
    edges: {
      'zero vectors': [(own) => cosines(own, [0, 0], 0, 2), [0, 0]],
      duplicates: [(own) => cosines(own, [3, 4], 1, 1, 2), [0.8, 0.8, 0]],
      'one turn': [(own) => cosines(own, [3, 4], 0), [0.6]],
      'all masked': [(own) => cosines(own, [3, 4], -1, -1), [0, 0]],
    },
  },
  computeHostCosines: {
    use: () => onHost([3, 4], 0, 1, -1),
    refuses: [],
    edges: {
      'zero vectors': [() => onHost([0, 0], 0, 2), [0, 0]],
      duplicates: [() => onHost([3, 4], 1, 1, 2), [0.8, 0.8, 0]],
      'all masked': [() => onHost([3, 4], -1, -1), [0, 0]],
    },
  },
  computePairCosines: {
    use: (own) => paired(own, 3, [3, 4], 0, 1, -1),
    refuses: [[(own) => paired(own, 3, [3, 4, 5], 0), /queries: expected rows of 2, got 3 numbers/]],
    edges: {
      'zero vectors': [(own) => paired(own, 3, [0, 0], 0, 2, 2), [0, 0, 0]],
      duplicates: [(own) => paired(own, 101, [3, 4], 1, 1, 2), [0.8, 0.8, 0]],
      'all masked': [(own) => paired(own, 3, [3, 4], -1, -1, -1), [0, 0, 0]],
    },
  },
  forwardAttention: {
    use: (own) => forwardAttention(own(row(1, 0.5, -1)), own(row(1, 1, 1))),
    refuses: [[(own) => forwardAttention(own(row(1, 0.5)), own(row(1))), /shape of logMasses/]],
    edges: { duplicates: [(own) => forwardAttention(own(row(0.3, 0.3)), own(row(0.3, 0.3))), [0.5, 0.5]] },
  },
  buildForwardCosines: {
    use: () => tables(corpus, [1, 0, 0.6, 0.8, 0, 1]),
    refuses: [[() => tables(corpus, [1, 0]), /embeddings of the conversation: expected 3 rows/]],
    edges: {
      'zero vectors': [() => tables(lone, [0, 0]), [0]],
      duplicates: [() => tables(corpus, [3, 4, 3, 4, 3, 4]), [1, 1, 1, 1, 1, 1, 1, 1]],
      'one turn': [() => tables(lone, [3, 4]), [1]],
    },
  },
  trajectoryScore: {
    use: (own) => trajectoryScore(own(row(0.5, 1)), 2),
    refuses: [[(own) => trajectoryScore(own(row(0.5, 1)), 0), /sigma is not positive: 0/]],
    edges: { 'one turn': [(own) => trajectoryScore(own(row(0)), 1), [1]] },
  },
  blendTrajectory: {
    use: (own) => blendTrajectory(own(row(0.5, 1)), own(row(1, 0)), 0.3),
    refuses: [
      [(own) => blendTrajectory(own(row(0.5, 1)), own(row(1, 0)), 2), /trajectoryWeight is outside \[0, 1\]: 2/],
    ],
    edges: { 'one turn': [(own) => blendTrajectory(own(row(0.5)), own(row(1)), 0.2), [0.6]] },
  },
  attentionSignal: { use: () => scored(attentionSignal(attentionUse)), refuses: [] },
  bm25Signal: { use: () => scored(bm25Signal({ ...BM25_DEFAULTS, index: 'bm25', k: 5 })), refuses: [] },
  recencySignal: { use: () => scored(recencySignal(null)), refuses: [] },
  joinCandidates: {
    use: () =>
      joinCandidates(
        [{ positions: Int32Array.of(1, -1), scores: new Float32Array(2), width: 2 }],
        1,
        (a, b) => b - a,
        () => true,
      ).positions,
    refuses: [],
  },
  cosineSignal: { use: () => scored(cosineSignal(null)), refuses: [] },
  strategySignal: {
    use: () => scored(strategySignal({ weights: 'by-question' })),
    refuses: [],
  },
  decaySignal: {
    use: () => scored(decaySignal({ halfLifeHours: 5 })),
    refuses: [[() => scored(decaySignal({ halfLifeHours: 0 })), /half-life is not positive: 0/]],
  },
  trajectorySignal: { use: () => scored(trajectorySignal(TRAJECTORY_DEFAULTS)), refuses: [] },
  signalTable: {
    use: () => bank({}),
    refuses: [[() => bank({ encoders: [{ encoder: 'lsa' }] }), /encoder lsa/]],
  },
  Workspace: {
    use: () => within(async (workspace) => (await workspace.getCorpusTensor()).size),
    refuses: [
      [
        () =>
          within(async (workspace) => {
            workspace.dispose();
            return workspace.getCorpusTensor();
          }),
        /workspace was disposed: "corpus tensor"; open a new workspace/,
      ],
    ],
  },
};
