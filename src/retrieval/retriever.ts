import * as tf from '@tensorflow/tfjs-core';
import { ensureBackend } from '../core/backend.ts';
import { letEventsIn } from '../core/event-loop.ts';
import { readBack } from '../core/read-back.ts';
import { scoped } from '../core/scope.ts';
import type { Candidates } from '../model/candidates.ts';
import { mixSignals } from '../signals/bank/mixed-signals.ts';
import type { CandidatePool, Column } from '../signals/candidate-pool.ts';
import { ADDED_SIGNALS, type World } from '../signals/signal.ts';
import { blendTrajectory } from '../signals/trajectory-score.ts';
import type { Workspace } from '../signals/workspace.ts';
import { listChainSignals, listRelevanceSignals, listSignalParts } from './arm-signals.ts';
import { blend, divideScoresByRowMaximum } from './blend.ts';
import { candidatesOfArm, findPool, runUnwatched, type Watch } from './candidate-sources.ts';
import {
  computeSemanticWeight,
  fuseSignals,
  fusesLists,
  listSignalIndexes,
  type RelevanceSignal,
  resolveFusion,
  type SignalLists,
  selectListedSignals,
} from './relevance.ts';
import { checkRetrieverOptions, type RetrieverOptions } from './retriever-options.ts';
import { selectTop } from './select-top.ts';

export type { RetrieverOptions };

/** What a retriever made of every query: scores over its pool, and the parts that they were made of. */
export interface Retrieved {
  readonly pool: CandidatePool;
  /** [Q, C] */
  readonly scores: Column;
  /** By name, in the order in which they were applied. */
  readonly components: ReadonlyMap<string, Column>;
}

/** The signals as they are, and what they make together. */
async function scoreRelevance(
  world: World,
  pool: CandidatePool,
  options: RetrieverOptions,
  watch: Watch,
): Promise<Map<string, Column>> {
  const { signals, fusion } = options.relevance;
  const columns = new Map<string, Column>();
  for (const [name, signal] of listRelevanceSignals(options)) {
    columns.set(name, await watch(name, () => world.get(signal, pool)));
    for (const [part, use] of listSignalParts(name)) columns.set(part, await world.get(use, pool));
  }
  // What takes scores as they are must not meet a negative one: decay would raise it. Lists hold the scores that an arm of one signal would write.
  const single = signals.length === 1;
  const asIs = single || fusion.method === 'weighted' || fusesLists(fusion);
  const parts = new Map<RelevanceSignal, Column>();
  for (const signal of signals) {
    const column = columns.get(signal) as Column;
    if (asIs) ADDED_SIGNALS.find(signal)?.assertNotNegative(column);
    parts.set(signal, asIs && signal === 'cosine' ? computeSemanticWeight(column) : column);
  }
  const lists = await listSignalSources(world, options);
  const fuseAll = () => watch('fusion', () => fuseSignals(pool, parts, resolveFusion(fusion), lists));
  const [first] = parts.values();
  columns.set('relevance', single ? (first as Column) : await fuseAll());
  return columns;
}

/** What the sources of each signal that is fused by its list found; the pool is made of the same. */
async function listSignalSources(world: World, options: RetrieverOptions): Promise<SignalLists> {
  const { candidates, relevance } = options;
  const lists = new Map<RelevanceSignal, Candidates[]>();
  for (const signal of selectListedSignals(relevance.signals, relevance.fusion)) {
    const found: Candidates[] = [];
    for (const source of candidates)
      if (listSignalIndexes(signal).includes(source.index))
        found.push(await world.get(candidatesOfArm(options, source)));
    lists.set(signal, found);
  }
  return lists;
}

/** Relevance, boosted, decayed, then blended with trajectory and attention: see ARCHITECTURE.md, "An arm". */
function compose(
  columns: ReadonlyMap<string, Column>,
  shape: [number, number],
  { trajectory, attention }: RetrieverOptions,
): tf.Tensor2D {
  return scoped('compose', () => {
    const uploadColumn = (name: string) => tf.tensor2d(columns.get(name) as Column, shape); // [Q, C]
    let score = uploadColumn('relevance');
    if (columns.has('boost')) score = tf.mul(score, uploadColumn('boost'));
    if (columns.has('curation')) score = tf.mul(score, uploadColumn('curation'));
    if (columns.has('decay')) score = tf.mul(score, uploadColumn('decay'));
    if (trajectory !== null)
      score = blendTrajectory(divideScoresByRowMaximum(score), uploadColumn('trajectory'), trajectory.weight);
    if (attention !== null) score = blend(score, uploadColumn('attention'), attention.weight);
    return score;
  });
}

/**
 * Finds every query's candidates, scores them, and reorders the best of them, by an arm's options.
 *
 * @param arm its options, or an arm of a config.
 * @param watch receives the components in the order of their computation, each source's candidates within the pool.
 * @throws ConfigurationError for options that are no retriever's.
 */
export async function retrieve(
  workspace: Workspace,
  arm: RetrieverOptions,
  watch: Watch = runUnwatched,
): Promise<Retrieved> {
  await letEventsIn();
  await ensureBackend();
  const options = checkRetrieverOptions(arm);
  const { selection } = options;
  const found = await watch('pool', () => findPool(workspace, options, watch));
  const scored = await scorePool(workspace, found, options, watch);
  if (selection === null) return scored;
  const { pool, scores, components } = scored;
  const order = await watch('selection', () => selectTop(workspace, pool, scores, selection));
  return { pool, scores: order, components: new Map([...components, ['before selection', scores]]) };
}

/** Scores candidates that have been found. */
export async function scorePool(
  workspace: Workspace,
  pool: CandidatePool,
  options: RetrieverOptions,
  watch: Watch = runUnwatched,
): Promise<Retrieved> {
  const { scoring, control } = options;
  const world = workspace.under(control);
  const components = await scoreRelevance(world, pool, options, watch);
  for (const [name, signal] of listChainSignals(options))
    components.set(name, await watch(name, () => world.get(signal, pool)));
  if (scoring !== null) {
    const scores = await watch('scoring', () => mixSignals(world, pool, scoring));
    return { pool, scores, components: components.set('scoring', scores) };
  }
  const composeScores = () => compose(components, [pool.queryCount, pool.width], options);
  const scores = await watch('compose', () => readBack('compose', composeScores));
  return { pool, scores, components };
}
