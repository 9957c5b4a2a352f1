import type { RunIndexOptions } from '../candidates/run-options.ts';
import { findSelectionColumn } from '../rerank/registry.ts';
import { attentionSignal } from '../signals/attention.ts';
import { signalTable } from '../signals/bank/signal-bank.ts';
import { bm25Signal } from '../signals/bm25.ts';
import { boostSignal } from '../signals/boost.ts';
import { cosineSignal } from '../signals/cosine.ts';
import { curationSignal } from '../signals/curation.ts';
import { decaySignal } from '../signals/decay.ts';
import type { Plan } from '../signals/plan.ts';
import { recencySignal } from '../signals/recency.ts';
import type { Signal } from '../signals/signal.ts';
import { ADDED_SIGNALS } from '../signals/signal.ts';
import type { Stage } from '../signals/stage.ts';
import { STRATEGY_SIGNALS, strategySignal } from '../signals/strategy.ts';
import { readStrategyOptions } from '../signals/strategy-options.ts';
import { trajectorySignal } from '../signals/trajectory.ts';
import { poolRows } from './candidate-sources.ts';
import { graphScores } from './graph-scores.ts';
import { type RelevanceSignal, selectListedSignals } from './relevance.ts';
import type { Bm25IndexOptions, RetrieverOptions } from './retriever-options.ts';
import { runScores } from './run-scores.ts';

/** The relevance signals by name, with the options of an arm. */
const RELEVANCE: Readonly<Record<RelevanceSignal, (options: RetrieverOptions) => Signal>> = {
  // The options' schema asks for one source with index bm25, whose options score the signal.
  bm25: ({ candidates }) => bm25Signal(candidates.find(({ index }) => index === 'bm25') as Bm25IndexOptions),
  cosine: ({ propagation }) => cosineSignal(propagation),
  recency: () => recencySignal(null),
  // The options' schema asks for one source with index run.
  run: ({ candidates }) => runScores(candidates.find(({ index }) => index === 'run') as RunIndexOptions),
  graph: (options) => graphScores(options),
  strategy: ({ relevance: { options = {} } }) => strategySignal(readStrategyOptions(options)),
};

/** The signals that make up an arm's relevance, in the order of its options. */
export function listRelevanceSignals(options: RetrieverOptions): ReadonlyMap<RelevanceSignal, Signal> {
  const { signals, options: given = {} } = options.relevance;
  return new Map(
    signals.map((name) => [name, ADDED_SIGNALS.find(name)?.create(given[name] ?? {}) ?? RELEVANCE[name](options)]),
  );
}

/** What a signal of relevance is put together from, by the names of an arm's components. */
export function listSignalParts(name: RelevanceSignal): ReadonlyMap<string, Signal> {
  return new Map(name === 'strategy' ? Object.entries(STRATEGY_SIGNALS) : []);
}

/** The signals that relevance is decayed by and blended with, by the names of an arm's components, in the order in which they are applied. */
export function listChainSignals({
  boosts = null,
  curation = null,
  decay,
  trajectory,
  attention,
}: RetrieverOptions): ReadonlyMap<string, Signal> {
  return new Map([
    ...(boosts === null ? [] : ([['boost', boostSignal(boosts)]] as const)),
    ...(curation === null ? [] : ([['curation', curationSignal(curation)]] as const)),
    ...(decay === null ? [] : ([['decay', decaySignal(decay)]] as const)),
    ...(trajectory === null ? [] : ([['trajectory', trajectorySignal(trajectory)]] as const)),
    ...(attention === null ? [] : ([['attention', attentionSignal({ attention, trajectory })]] as const)),
  ]);
}

/** The stages that the ranking of an arm is put together from. */
export function listArmStages(plan: Plan, options: RetrieverOptions): Stage[] {
  const { relevance, scoring, selection, control } = options;
  const column = selection === null ? null : findSelectionColumn(selection);
  const world = plan.under(control);
  const pool = world.stage(poolRows(options));
  const lists = selectListedSignals(relevance.signals, relevance.fusion).length > 0;
  const uses = [...listRelevanceSignals(options).values(), ...listChainSignals(options).values()];
  return [
    pool,
    ...(lists ? pool.inputs : []), // what the sources found is looked at again
    ...uses.map((use) => world.stage(use, pool)),
    ...(scoring === null ? [] : [world.stage(signalTable(scoring.signals), pool)]),
    ...(column === null ? [] : [plan.stage(column, pool)]),
  ];
}
