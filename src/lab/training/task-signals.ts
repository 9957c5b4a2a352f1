import { parse } from '../../core/validation/validation.ts';
import type { Dimensions } from '../../ops/trajectory/coordinate-names.ts';
import { findPool, type PoolParts } from '../../rank/retrieval/candidate-sources.ts';
import { readArm } from '../../rank/retrieval/form.ts';
import { retrieverOptions } from '../../rank/retrieval/retriever-options.ts';
import { type SignalTable, signalTable } from '../../rank/signals/bank/signal-bank.ts';
import type { CandidatePool } from '../../rank/signals/candidate-pool.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import type { TrainingConfig } from './training-config.ts';
import { withTrajectorySignals } from './trajectory-features.ts';

/** The candidate stage of a training; relevance is not computed. */
export function buildCandidatePool({ candidates, sameChannel, filter }: TrainingConfig): PoolParts {
  const written = { candidates, sameChannel, filter, relevance: { signals: ['recency'] } };
  return readArm(parse(retrieverOptions, written, 'the candidates of a training')).outline;
}

export function findCandidatePool(workspace: Workspace, config: TrainingConfig): Promise<CandidatePool> {
  return findPool(workspace, null, buildCandidatePool(config));
}

/** The dimensions of the coordinates that the models of a config read, null if none reads any; the largest dimension includes the others. */
export function readTrajectoryDimensions({ models }: TrainingConfig): Dimensions | null {
  const dimensions = models.flatMap((model) => (model.name === 'trajectory' ? [model.dimensions] : []));
  return dimensions.length === 0 ? null : (Math.max(...dimensions) as Dimensions);
}

/** Every signal that the models of a config may read. */
export async function computeTaskSignals(
  workspace: Workspace,
  pool: CandidatePool,
  config: TrainingConfig,
): Promise<SignalTable> {
  const bank = await workspace.get(signalTable(config.signals), pool);
  const dimensions = readTrajectoryDimensions(config);
  return dimensions === null ? bank : withTrajectorySignals(workspace, pool, bank, dimensions);
}
