import { COORDINATES, type Dimensions } from '../../ops/trajectory/coordinate-names.ts';
import { toSignalPart } from '../signals/signal-names.ts';
import type { ModelOptions } from './fit-options.ts';

/** The number of later turns that a candidate attends to one by one; those beyond count e^0 each. */
export const TURNS_AHEAD = 8;

const aheadNames: readonly string[] = Array.from({ length: TURNS_AHEAD }, (_, i) => `ahead.${i + 1}`);

/** Signals of each turn ahead, the nearest first. */
export function listAheadSignals(): readonly string[] {
  return aheadNames;
}

/** A signal of each coordinate. */
export function listCoordinateSignals(dimensions: Dimensions): string[] {
  return COORDINATES[dimensions].map((name) => `coordinate.${toSignalPart(name)}`);
}

/**
 * The signals that a table must have. `coordinate.` is candidate minus query; `ahead.k` the cosine of the candidate to
 * the k-th turn after it, 0 if there is none.
 */
export function listTrajectorySignals(dimensions: Dimensions): string[] {
  const scores = ['relevance', 'relevance@neighbour', 'relevance@session', 'age.hours', 'cosine'];
  const places = ['ring.distance', 'cold-start', 'ahead.count'];
  return [...scores, ...listCoordinateSignals(dimensions), ...places, ...aheadNames];
}

/** The default start of a mix: words and embeddings alike. */
export const HAND_TUNED: Readonly<Record<string, number>> = { bm25: 1, cosine: 1 };

/** The signals of a mix: those that it names, or all of a table but the inputs of a trajectory model. */
export function listMixSignals(
  all: readonly string[],
  { signals }: Extract<ModelOptions, { name: 'linear' }>,
): readonly string[] {
  const inputs = new Set(listTrajectorySignals(7));
  return signals ?? all.filter((signal) => signal === 'cosine' || !inputs.has(signal));
}

/** The signals that a model reads, of all those of a table. */
export function listModelSignals(model: ModelOptions, all: readonly string[]): readonly string[] {
  return model.name === 'trajectory' ? listTrajectorySignals(model.dimensions) : listMixSignals(all, model);
}
