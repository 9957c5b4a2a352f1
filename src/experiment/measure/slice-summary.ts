import { isRefusal, type SignedSlices } from '../../retrieval/signed-slices.ts';
import type { Stratum } from './result.ts';

/** Relevant turns, and how many of them were outside of the slices of their queries. */
export interface Inadmissible {
  readonly relevant: number;
  readonly inadmissible: number;
}

/** The slices of an arm's queries. */
export interface SliceSummary extends Inadmissible {
  /** Name, version and hash of the policy. */
  readonly policyRef: string;
  readonly queries: number;
  /** Turns a query; 0 of a refused query. */
  readonly meanTurns: number;
  /** Queries without an anchor that the policy gives a slice. */
  readonly unanchored: number;
  /** Queries without an anchor that the policy refuses: they see nothing. */
  readonly refused: number;
  /** By stratum and level. */
  readonly strata: Readonly<Record<string, Readonly<Record<string, Inadmissible>>>>;
}

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
