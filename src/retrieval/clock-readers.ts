import { bankSignals } from '../signals/bank/options.ts';
import type { WorldPart } from '../signals/worlds/world-parts.ts';
import { listChainSignals, listRelevanceSignals } from './arm-signals.ts';
import type { RetrieverOptions } from './retriever-options.ts';

/** A part of an arm that reads hours or dates, and the setting that omits it. */
export interface ClockReader {
  readonly part: string;
  readonly remedy: string;
}

interface Reader {
  readonly reads: readonly WorldPart[];
}

const readsClock = ({ reads }: Reader) => reads.includes('clock');

const WITHOUT_TEMPORAL = 'set trajectory.weights.temporal: 0';

/** By the name of an arm's component. */
const CHAIN: Readonly<Record<string, (options: RetrieverOptions) => ClockReader>> = {
  decay: ({ decay }) => ({ part: `decay with half-life ${decay?.halfLifeHours} hours`, remedy: 'set decay: null' }),
  trajectory: () => ({ part: 'trajectory coordinate temporal', remedy: WITHOUT_TEMPORAL }),
  attention: ({ attention }) => ({
    part: `attention ${attention?.mechanism} by trajectory coordinate temporal`,
    remedy: WITHOUT_TEMPORAL,
  }),
};

function listScoringReaders({ scoring }: RetrieverOptions): ClockReader[] {
  if (scoring === null) return [];
  return bankSignals(scoring.signals)
    .filter((signal) => readsClock(signal) && (scoring.weights[signal.name] ?? 0) !== 0)
    .map(({ name }) => ({ part: `scoring signal ${name}`, remedy: 'remove its weight from scoring.weights' }));
}

/** The parts of an arm that read hours or dates: what its signals declare. */
export function listClockReaders(options: RetrieverOptions): ClockReader[] {
  const relevance = [...listRelevanceSignals(options)].filter(([, signal]) => readsClock(signal));
  const chain = [...listChainSignals(options)].filter(([, signal]) => readsClock(signal));
  return [
    ...relevance.map(([name]) => ({
      part: `relevance signal ${name}`,
      remedy: 'leave the signal out, or declare reads without clock in its plugin',
    })),
    ...chain.map(([name]) => (CHAIN[name] as (typeof CHAIN)[string])(options)),
    ...listScoringReaders(options),
  ];
}
