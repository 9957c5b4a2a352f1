import type { SeedSpread } from './result.ts';

/** An arm that was run with one seed or several. */
interface Repeated {
  readonly seeds?: SeedSpread | undefined;
}

/** The largest number of seeds that an arm was run with; 1 where none was repeated. */
export function countSeeds(arms: readonly { readonly seeds?: { readonly count: number } | undefined }[]): number {
  return Math.max(1, ...arms.map(({ seeds }) => seeds?.count ?? 1));
}

/** True if no seed changes a figure of an arm that has several. A deviation of equal means is 0 but for rounding. */
function isAlike({ seeds }: Repeated): boolean {
  return seeds !== undefined && Object.values(seeds.deviations).every((deviation) => deviation < 1e-12);
}

/** The names of the arms with several seeds whose figures no seed changes. */
export function listAlikeArms(arms: readonly (Repeated & { readonly name: string })[]): string[] {
  return arms.filter(isAlike).map(({ name }) => name);
}

/** The standard deviation of the seeds' means; undefined for one seed, and where no seed changes a figure of the arm. */
export function readSeedDeviation(arm: Repeated, metric: string): number | undefined {
  return isAlike(arm) ? undefined : arm.seeds?.deviations[metric];
}
