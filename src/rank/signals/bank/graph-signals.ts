import { GRAPH_RELATIONS } from '../graph-relations.ts';
import type { Signal } from '../signal.ts';

/** The signals of the concept graph by name, in the order of their columns. */
export const GRAPH_SIGNALS: Readonly<Record<string, Signal>> = Object.fromEntries(
  Object.values(GRAPH_RELATIONS).map((signal) => [signal.definition.name, signal(null)]),
);

/** The signals of the concept graph, as a bank describes its signals. */
export function listGraphSignals() {
  return Object.values(GRAPH_RELATIONS).map((signal) => ({ ...signal.definition, reads: signal(null).reads }));
}
