import * as tf from '@tensorflow/tfjs-core';
import { readBack } from '../src/core/tensors/scope.ts';
import { computeQueryFrames, type QueryFrames } from '../src/ops/trajectory/query-frames.ts';
import { findPool } from '../src/rank/retrieval/candidate-sources.ts';
import { type Retrieved, scorePool } from '../src/rank/retrieval/retriever.ts';
import { blend, search } from '../src/rank/retrieval/steps/functions.ts';
import { parseSteps, type RankOptions, readArm } from '../src/rank/retrieval/written-steps.ts';
import { attentionSignal } from '../src/rank/signals/attention.ts';
import { cosineSignal } from '../src/rank/signals/cosine.ts';
import { type AttentionOptions, attentionOptions, TRAJECTORY_DEFAULTS } from '../src/rank/signals/signal-options.ts';
import type { CandidatePool } from '../src/rank/signals/stage.ts';
import { trajectorySignal } from '../src/rank/signals/trajectory.ts';
import { prepareFrameSources } from '../src/rank/signals/trajectory-score.ts';
import type { Workspace } from '../src/rank/signals/workspace.ts';
import { type RerankReference, SCORES, type ScoreName } from './rerank-reference.ts';
import { createBatchWorkspace, type RerankWorld } from './rerank-workload.ts';
import { type Times, timePrepared, timeRepeats } from './timing.ts';

/** One batch of queries, each with the candidates that the exact index finds for it. */
interface RerankCase {
  readonly batch: number;
  /** C. */
  readonly candidates: number;
}

/** `whole` is all of a rerank. Of its parts `trajectory` takes the frames in, and attention is by each mechanism with what it alone needs. */
export const STEPS = ['frames', 'cosine', 'trajectory', 'rcp', 'ircp', 'tpo', 'unified', 'read-back', 'whole'] as const;
export type Step = (typeof STEPS)[number];

type Errors = Readonly<Record<ScoreName, number>>;

export interface RerankMeasurement extends RerankCase {
  /** Of the batch. */
  readonly times: Readonly<Record<Step, Times>>;
  readonly errors: Errors;
  readonly pool: CandidatePool;
  readonly frames: QueryFrames;
}

/** The published weights of cosine, trajectory and unified attention, with the exact index's candidates. */
export function buildRerankArms(candidates: number): Readonly<Record<'whole' | 'withoutAttention', RankOptions>> {
  const found = search({ flat: { k: candidates } });
  return {
    whole: parseSteps([found, blend({ trajectory: {}, unified: {} })]),
    withoutAttention: parseSteps([found, blend({ trajectory: {} })]),
  };
}

/** The largest differences to float64, over `samples` queries from the first to the last. */
export function measureRerankErrors(
  world: RerankWorld,
  reference: RerankReference,
  pool: CandidatePool,
  samples: number,
  columns: Readonly<Record<ScoreName, ArrayLike<number>>>,
): Errors {
  const errors = { cosine: 0, trajectory: 0, attention: 0, final: 0 };
  const last = pool.queryCount - 1;
  const queries = new Set(Array.from({ length: samples }, (_, i) => Math.round((i * last) / Math.max(1, samples - 1))));
  for (const query of queries) {
    const start = query * pool.width;
    const positions = pool.positions.subarray(start, start + pool.width).filter((position) => position >= 0);
    const exact = reference.scoreReferencePool(world.queries[query]!, positions);
    for (const name of SCORES)
      for (const [i, value] of exact[name].entries()) {
        errors[name] = Math.max(errors[name], Math.abs(value - columns[name][start + i]!)); // NaN comes through
      }
  }
  return errors;
}

function pickScoreColumns({ scores, components }: Retrieved): Record<ScoreName, Float32Array> {
  return {
    cosine: components.get('flat')!,
    trajectory: components.get('trajectory')!,
    attention: components.get('unified')!,
    final: scores,
  };
}

/** Pools with the same candidates, of which the workspace has cached no result. */
export function createFreshPools(pool: CandidatePool): () => CandidatePool {
  let number = 0;
  return () => ({ ...pool, stage: { ...pool.stage, key: `${pool.stage.key}/${number++}` } });
}

async function timeSteps(
  workspace: Workspace,
  pool: CandidatePool,
  arms: ReturnType<typeof buildRerankArms>,
  repeats: number,
): Promise<RerankMeasurement['times']> {
  const { frames, points } = await prepareFrameSources(workspace);
  const fresh = createFreshPools(pool);
  const time = (work: () => unknown) => timeRepeats(repeats, work);
  const trajectory = TRAJECTORY_DEFAULTS;
  const timeMechanism = (mechanism: AttentionOptions['mechanism']) =>
    timePrepared(repeats, preparePool, (pairs) =>
      workspace.get(attentionSignal({ attention: attentionOptions.parse({ mechanism }), trajectory }), pairs),
    );
  /** A pool whose frames, cosines and distances are there for each mechanism. */
  const preparePool = async () => {
    const pairs = fresh();
    await scorePool(workspace, pairs, arms.withoutAttention);
    return pairs;
  };
  return {
    frames: await time(() => computeQueryFrames(frames, points, pool.positions, trajectory)),
    cosine: await time(() => workspace.get(cosineSignal(null), fresh())),
    trajectory: await time(() => workspace.get(trajectorySignal(trajectory), fresh())),
    rcp: await timeMechanism('rcp'),
    ircp: await timeMechanism('ircp'),
    tpo: await timeMechanism('tpo'),
    unified: await timeMechanism('unified'),
    'read-back': await timeReadBack(pool, repeats),
    whole: await time(() => scorePool(workspace, fresh(), arms.whole)),
  };
}

async function timeReadBack({ queryCount, width }: CandidatePool, repeats: number): Promise<Times> {
  const scores = tf.zeros([queryCount, width]);
  try {
    return await timeRepeats(repeats, () => readBack('bench', () => tf.clone(scores)));
  } finally {
    scores.dispose();
  }
}

/** Reranks the first queries of the world; the candidates and the parts made once per corpus are made before. */
export async function measureRerank(
  world: RerankWorld,
  reference: RerankReference,
  batch: number,
  counts: readonly number[],
  { repeats, samples }: { readonly repeats: number; readonly samples: number },
): Promise<RerankMeasurement[]> {
  const workspace = createBatchWorkspace(world, batch);
  const measurements: RerankMeasurement[] = [];
  try {
    for (const candidates of counts) {
      const arms = buildRerankArms(candidates);
      const pool = await findPool(workspace, null, readArm(arms.whole).outline);
      const scored = pickScoreColumns(await scorePool(workspace, pool, arms.whole));
      const { frames, points } = await prepareFrameSources(workspace);
      measurements.push({
        batch,
        candidates,
        pool,
        frames: computeQueryFrames(frames, points, pool.positions, TRAJECTORY_DEFAULTS),
        errors: measureRerankErrors(world, reference, pool, samples, scored),
        times: await timeSteps(workspace, pool, arms, repeats),
      });
    }
    return measurements;
  } finally {
    workspace.dispose();
  }
}
