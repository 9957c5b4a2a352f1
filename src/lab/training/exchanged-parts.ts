import { listAheadSignals, listCoordinateSignals } from '../../rank/learning/trajectory-inputs.ts';
import { groupSignalParts } from '../../rank/signals/bank/signal-parts.ts';
import type { TrainingConfig } from './training-config.ts';
import { listModelSignals } from './training-models.ts';

type ModelOptions = TrainingConfig['model'];

/** The control of all signals that some other exchanges. */
const ALL_PARTS = 'all of these';

/**
 * The inputs of a trajectory model besides a candidate's own relevance. The order of a ring and the turns ahead are exchanged together: the number of turns that
 * a candidate attends to depends on its place in the ring.
 */
function listTrajectoryParts({
  dimensions,
}: Extract<ModelOptions, { name: 'trajectory' }>): [string, readonly string[]][] {
  const order = ['ring.distance', 'ahead.count', ...listAheadSignals()];
  return [
    ['neighbours', ['relevance@neighbour', 'relevance@session']],
    ['time', ['age.hours']],
    ['coordinates', [...listCoordinateSignals(dimensions), 'cold-start']],
    ['attention: likeness', ['cosine']],
    ['attention: order', order],
    ['attention', ['cosine', ...order]],
  ];
}

/** The signals that a model reads of each part that null controls exchange, and of all parts. @param table names of the signals that there are */
export function listExchangedParts(
  config: Pick<TrainingConfig, 'signals'>,
  options: ModelOptions,
  table: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const own = listModelSignals(options, table);
  const named = options.name === 'trajectory' ? listTrajectoryParts(options) : [...groupSignalParts(config.signals)];
  const parts = named
    .map(([part, signals]) => [part, signals.filter((signal) => own.includes(signal))] as const)
    .filter(([, signals]) => signals.length > 0);
  const all = own.filter((signal) => parts.some(([, signals]) => signals.includes(signal)));
  return new Map(parts.length < 2 ? parts : [...parts, [ALL_PARTS, all]]);
}
