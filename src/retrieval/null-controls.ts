import { listIndexReads } from '../candidates/registry.ts';
import { type BankSignal, bankSignals, type ScoringOptions } from '../signals/bank/options.ts';
import { ADDED_SIGNALS, type Signal } from '../signals/signal.ts';
import { dependsOnStrategy, readStrategyOptions } from '../signals/strategy-options.ts';
import { CONTROL_KINDS, type ControlKind } from '../signals/worlds/control-options.ts';
import { disturbs, type WorldPart } from '../signals/worlds/world-parts.ts';
import { listChainSignals, listRelevanceSignals } from './arm-signals.ts';
import type { RetrieverOptions } from './retriever-options.ts';

/** What {@link listControlsFor} depends on. */
const DECIDING = [
  'candidates',
  'slice',
  'attention.mechanism',
  'attention.mix',
  'trajectory.dimensions',
  'trajectory.weights',
  'propagation',
  'relevance.signals',
  'relevance.options.strategy',
  'scoring.weights',
] as const;

/** Whether a value at this path of an arm affects which controls change anything. */
export function decidesControls(path: string): boolean {
  return DECIDING.some((known) => `${known}.`.startsWith(`${path}.`) || `${path}.`.startsWith(`${known}.`));
}

/** The signals that a mix gives a weight. */
function listWeighedSignals({ signals, weights }: ScoringOptions): BankSignal[] {
  return bankSignals(signals).filter(({ name }) => (weights[name] ?? 0) !== 0);
}

/** The signals of relevance that are of plugins. */
function listAddedRelevance(arm: RetrieverOptions): Signal[] {
  return Array.from(listRelevanceSignals(arm)).flatMap(([name, signal]) =>
    ADDED_SIGNALS.find(name) === undefined ? [] : [signal],
  );
}

/** The parts of the world that an arm's scores read and that a control may destroy. */
function listArmReads(arm: RetrieverOptions): readonly WorldPart[] {
  return [
    ...(arm.propagation === null ? [] : (['order'] as const)),
    ...(arm.slice ? (['slices'] as const) : []),
    ...arm.candidates.flatMap(listIndexReads),
    ...(arm.scoring === null
      ? [...listChainSignals(arm).values(), ...listAddedRelevance(arm)].flatMap(({ reads }) => reads)
      : listWeighedSignals(arm.scoring).flatMap(({ reads }) => reads)),
  ];
}

/** Whether relevance depends on the strategy of each question. */
function isByStrategy({ scoring, relevance: { signals, options = {} } }: RetrieverOptions): boolean {
  return scoring === null && signals.includes('strategy') && dependsOnStrategy(readStrategyOptions(options));
}

/** The controls that change anything of what an arm looks at. */
export function listControlsFor(arm: RetrieverOptions): ControlKind[] {
  // A signal that does not list what it reads may read everything, except for slices where the arm has none, and strategies.
  const reads = listArmReads(arm).filter((part) => part !== 'strategies' && (part !== 'slices' || arm.slice));
  if (isByStrategy(arm)) reads.push('strategies');
  return CONTROL_KINDS.filter((kind) => disturbs(kind, reads));
}
