import {
  entityOverlapSignal,
  reinforcementSignal,
  temporalRelevanceSignal,
  typedImportanceSignal,
} from '../memory-columns.ts';
import type { Signal } from '../signal.ts';

const SIGNALS = [entityOverlapSignal, temporalRelevanceSignal, typedImportanceSignal, reinforcementSignal];

/** The signals of memories by name, in the order of their columns. The fifth, the cosine, is in the group `text`. */
export const BANK_MEMORY_SIGNALS: Readonly<Record<string, Signal>> = Object.fromEntries(
  SIGNALS.map((signal) => [signal.definition.name, signal(null)]),
);

/** The signals of memories, as a bank describes its signals. */
export function listMemorySignals() {
  return SIGNALS.map((signal) => ({ ...signal.definition, reads: signal(null).reads }));
}
