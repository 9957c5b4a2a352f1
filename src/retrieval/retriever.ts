import * as tf from '@tensorflow/tfjs-core';
import { letEventsIn } from '../core/event-loop.ts';
import { readBack } from '../core/read-back.ts';
import { scoped } from '../core/scope.ts';
import { finalScore } from '../rerank/trajectory-score.ts';
import { blend, byRowMaximum } from './blend.ts';
import type { CandidatePool } from './candidate-pool.ts';
import { type Column, fuseSignals, semanticWeight } from './relevance.ts';
import type { Bm25IndexOptions, RelevanceSignal, RetrieverOptions } from './retriever-options.ts';
import { selectTop } from './select-top.ts';
import { attentionSignal, bm25Signal, cosineSignal, decaySignal, recencySignal, trajectorySignal } from './signals.ts';
import type { Workspace } from './workspace.ts';

export type { RetrieverOptions };

/** What a retriever made of every query: scores over its pool, and the parts that they were made of. */
export interface Retrieved {
  readonly pool: CandidatePool;
  /** [Q, C] */
  readonly scores: Column;
  /** By name, in the order in which they were applied. */
  readonly components: ReadonlyMap<string, Column>;
}

function bm25Options({ candidates }: RetrieverOptions): Bm25IndexOptions {
  return candidates.find(({ index }) => index === 'bm25') as Bm25IndexOptions; // the options' schema asks for it
}

function signalColumn(
  workspace: Workspace,
  pool: CandidatePool,
  signal: RelevanceSignal,
  options: RetrieverOptions,
): Promise<Column> {
  switch (signal) {
    case 'bm25': {
      const { k: _, ...scoring } = bm25Options(options);
      return workspace.once(['bm25 signal', pool.key, scoring], () =>
        bm25Signal(workspace, pool, bm25Options(options)),
      );
    }
    case 'cosine':
      return workspace.once(['cosine', pool.key, options.propagation], () =>
        cosineSignal(workspace, pool, options.propagation),
      );
    case 'recency':
      return workspace.once(['recency', pool.key], () => recencySignal(workspace, pool));
  }
}

/** The signals as they are, and what they make together. */
async function relevanceOf(
  workspace: Workspace,
  pool: CandidatePool,
  options: RetrieverOptions,
): Promise<Map<string, Column>> {
  const { signals, fusion } = options.relevance;
  const columns = new Map<string, Column>();
  for (const signal of signals) columns.set(signal, await signalColumn(workspace, pool, signal, options));
  // What takes scores as they are must not meet a negative one: decay would raise it.
  const asIs = signals.length === 1 || fusion.method === 'weighted';
  const parts = Array.from(columns, ([signal, column]) =>
    asIs && signal === 'cosine' ? semanticWeight(column) : column,
  );
  columns.set('relevance', signals.length === 1 ? (parts[0] as Column) : fuseSignals(pool, parts, fusion));
  return columns;
}

/** Relevance, decayed, then blended with trajectory and attention: see ARCHITECTURE.md, "An arm". */
function compose(
  columns: ReadonlyMap<string, Column>,
  shape: [number, number],
  { trajectory, attention }: RetrieverOptions,
): tf.Tensor2D {
  return scoped('compose', () => {
    const tensor = (name: string) => tf.tensor2d(columns.get(name) as Column, shape); // [Q, C]
    let score = tensor('relevance');
    if (columns.has('decay')) score = tf.mul(score, tensor('decay'));
    if (trajectory !== null) score = finalScore(byRowMaximum(score), tensor('trajectory'), trajectory.weight);
    if (attention !== null) score = blend(score, tensor('attention'), attention.weight);
    return score;
  });
}

/** Finds every query's candidates, scores them, and reorders the best of them, by an arm's options. */
export async function retrieve(workspace: Workspace, options: RetrieverOptions): Promise<Retrieved> {
  await letEventsIn();
  const scored = await scorePool(workspace, await workspace.pool(options), options);
  if (options.selection === null) return scored;
  const { pool, scores, components } = scored;
  const order = await selectTop(workspace, pool, scores, options.selection);
  return { pool, scores: order, components: new Map([...components, ['before selection', scores]]) };
}

/** Scores candidates that have been found. */
export async function scorePool(
  workspace: Workspace,
  pool: CandidatePool,
  options: RetrieverOptions,
): Promise<Retrieved> {
  const { decay, trajectory, attention } = options;
  const components = await relevanceOf(workspace, pool, options);
  const add = async (name: string, key: unknown, compute: () => Promise<Column>) =>
    components.set(name, await workspace.once([name, pool.key, key], compute));
  if (decay !== null) await add('decay', decay, () => decaySignal(workspace, pool, decay.halfLifeHours));
  if (trajectory !== null) {
    const { weight: _, ...key } = trajectory;
    await add('trajectory', key, () => trajectorySignal(workspace, pool, trajectory));
  }
  if (attention !== null) {
    const { weight: _, ...key } = attention;
    const coordinates = trajectory && { ...trajectory, weight: 0, sigma: 1 };
    await add('attention', [key, coordinates], () => attentionSignal(workspace, pool, attention, trajectory));
  }
  const scores = await readBack('compose', () => compose(components, [pool.queryCount, pool.width], options));
  return { pool, scores, components };
}
