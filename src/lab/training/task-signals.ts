import { formatFilter } from '../../model/filter/format-filter.ts';
import { parseFilter } from '../../model/filter/parse-filter.ts';
import type { Dimensions } from '../../ops/trajectory/coordinate-names.ts';
import { findPool, listSources, type PoolParts } from '../../rank/retrieval/candidate-sources.ts';
import { SAME_CHANNEL } from '../../rank/retrieval/query-filter.ts';
import { type SignalTable, signalTable } from '../../rank/signals/bank/signal-bank.ts';
import type { CandidatePool } from '../../rank/signals/candidate-pool.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import type { TrainingConfig } from './training-config.ts';
import { withTrajectorySignals } from './trajectory-features.ts';

/** The candidate stage of a training. Equal filters have one text, and so one key. */
export function buildCandidatePool({ candidates, sameChannel, filter = null }: TrainingConfig): PoolParts {
  const visible = filter === null ? null : formatFilter(parseFilter(filter));
  const sources = Object.fromEntries(candidates.map((source, i) => [`${i}`, source]));
  return {
    sources: listSources(sources, { filter: visible, slice: null, propagation: null }),
    poolFilters: sameChannel ? [SAME_CHANNEL] : [],
  };
}

export function findCandidatePool(workspace: Workspace, config: TrainingConfig): Promise<CandidatePool> {
  return findPool(workspace, null, buildCandidatePool(config));
}

/** The dimensions of the coordinates that the model of a config reads, null if it reads none. */
export function readTrajectoryDimensions({ model }: TrainingConfig): Dimensions | null {
  return model.name === 'trajectory' ? model.dimensions : null;
}

/** Every signal that the model of a config may read. */
export async function computeTaskSignals(
  workspace: Workspace,
  pool: CandidatePool,
  config: TrainingConfig,
): Promise<SignalTable> {
  const bank = await workspace.get(signalTable(config.signals), pool);
  const dimensions = readTrajectoryDimensions(config);
  return dimensions === null ? bank : withTrajectorySignals(workspace, pool, bank, dimensions);
}
