import type { RankOptions } from '../../rank/retrieval/written-steps.ts';
import { readArm } from '../../rank/retrieval/written-steps.ts';
import {
  explainMemoryScore,
  MEMORY_SIGNALS,
  type MemoryReason,
  type MemorySignals,
} from '../../rank/signals/memory-signals.ts';
import { queryStrategies } from '../../rank/signals/strategy.ts';
import { chooseStrategyWeights, readAsker } from '../../rank/signals/strategy-options.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import type { ArmRecord } from './arm-record.ts';

/** The weights of the five signals for each query of an arm with the signal `strategy`; nothing for other arms. */
export async function listStrategyWeights(
  workspace: Workspace,
  arm: RankOptions,
): Promise<Pick<ArmRecord, 'strategyWeights'>> {
  const { outline, control } = readArm(arm);
  const written = [...outline.columns.values()].find(({ strategy }) => strategy !== undefined)?.strategy;
  if (written === undefined) return {};
  const { strategies } = await workspace.under(control).get(queryStrategies(null));
  const strategyWeights = workspace.queries.map((query, q) => {
    const weights = chooseStrategyWeights(written, strategies[q] as (typeof strategies)[number], readAsker(query));
    return MEMORY_SIGNALS.map((name) => weights[name]);
  });
  return { strategyWeights };
}

/**
 * Why a ranked turn has its score of the signal `strategy`, by the weights that the arm used for the query; null for an arm without the signal.
 *
 * @param query position of the query in the record.
 * @param parts of the turn's score by name, the five signals among them.
 */
export function explainRankedTurn(
  { strategyWeights }: Pick<ArmRecord, 'strategyWeights'>,
  query: number,
  parts: Readonly<Record<string, number>>,
  memoryType: string | null,
): MemoryReason | null {
  const row = strategyWeights?.[query];
  if (row === undefined) return null;
  const weights = Object.fromEntries(MEMORY_SIGNALS.map((name, i) => [name, row[i]])) as MemorySignals;
  return explainMemoryScore(parts as MemorySignals, weights, memoryType);
}
