import { isRefusal, type SignedSlices } from '../../rank/retrieval/packed-slices.ts';
import type { Inadmissible, SliceSummary, Stratum } from './result.ts';

type Losses = Readonly<Record<string, string>>;

function countInadmissible(losses: readonly Losses[]): Inadmissible {
  const stages = losses.flatMap((turns) => Object.values(turns));
  return { relevant: stages.length, inadmissible: stages.filter((stage) => stage === 'slice').length };
}

/**
 * Sums up the slices of the measured queries.
 *
 * @param slices of these queries, in order; at least one.
 * @param losses [Q] the fate of each query's relevant turns.
 */
export function summariseSlices(
  { answers, starts }: SignedSlices,
  losses: readonly Losses[],
  strata: readonly Stratum[],
): SliceSummary {
  const countLevels = ({ levels }: Stratum) =>
    Object.fromEntries(
      levels.map(({ name, queries }) => [name, countInadmissible(queries.map((query) => losses[query] as Losses))]),
    );
  return {
    policyRef: answers[0]?.policyRef as string,
    queries: answers.length,
    meanTurns: (starts.at(-1) as number) / answers.length,
    unanchored: answers.filter((answer) => !isRefusal(answer) && answer.anchorTurnId === null).length,
    refused: answers.filter(isRefusal).length,
    ...countInadmissible(losses),
    strata: Object.fromEntries(strata.map((stratum) => [stratum.name, countLevels(stratum)])),
  };
}
