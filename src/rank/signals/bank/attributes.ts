import { importanceSignal, outcomeSignal } from '../attribute-values.ts';
import type { Signal } from '../signal.ts';

const SIGNALS = [outcomeSignal, importanceSignal];

/** The signals of reserved attributes by name, in the order of their columns. */
export const ATTRIBUTE_SIGNALS: Readonly<Record<string, Signal>> = Object.fromEntries(
  SIGNALS.map((signal) => [signal.definition.name, signal(null)]),
);

/** The signals of reserved attributes, as a bank describes its signals. */
export function listAttributeSignals() {
  return SIGNALS.map((signal) => ({ ...signal.definition, reads: signal(null).reads }));
}
