import type { PlantedDependency } from '../../src/data/prepared/datasets.ts';
import { computePlantedLevels } from '../../src/data/synthetic/planted-conversations.ts';
import { type Estimate, groupIntoClusters } from '../../src/eval/intervals/mean-intervals.ts';
import { holm } from '../../src/eval/significance/multiple-comparisons.ts';
import { compareWithBaseline } from '../../src/eval/significance/significance.ts';
import { chooseVerdict, type Verdict } from '../../src/eval/significance/verdict.ts';
import { MECHANISMS } from './arms.ts';
import type { PlantedCell } from './measure.ts';
import type { PlantedTruthSettings } from './settings.ts';

/** An arm against its base on one dependency at one strength, in MRR. */
export interface PlantedComparison {
  readonly dependency: PlantedDependency;
  readonly strength: number;
  readonly arm: string;
  readonly base: string;
  readonly queries: number;
  readonly value: number;
  readonly baseValue: number;
  /** Arm minus base. */
  readonly difference: Estimate;
  readonly p: number;
  /** Corrected by Holm over all comparisons of strength above 0; at strength 0, the null control, p itself. */
  readonly correctedP: number;
  readonly verdict: Verdict;
  readonly chance: number;
  readonly ceiling: number;
}

const computeMean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

type Uncorrected = Omit<PlantedComparison, 'correctedP' | 'verdict'>;

function compareCell(
  { dependency, strength, clusters, values }: PlantedCell,
  settings: PlantedTruthSettings,
): Uncorrected[] {
  const { samples, level, seed, branching } = settings;
  const levels = computePlantedLevels(branching, strength);
  return MECHANISMS.map(({ name, base }) => {
    const [own, before] = [values.get(name), values.get(base)] as [readonly number[], readonly number[]];
    const options = { samples, level, seed, correction: 'none' } as const;
    const [found] = compareWithBaseline([own], before, groupIntoClusters(clusters), options);
    const { difference, p } = found as NonNullable<typeof found>;
    return {
      dependency,
      strength,
      arm: name,
      base,
      queries: own.length,
      value: computeMean(own),
      baseValue: computeMean(before),
      difference,
      p,
      chance: levels.chance.mrr,
      ceiling: levels.ceiling.mrr,
    };
  });
}

/** Every mechanism against its base, by clustered permutation tests and bootstrap intervals. */
export function compareMechanisms(cells: readonly PlantedCell[], settings: PlantedTruthSettings): PlantedComparison[] {
  const compared = cells.flatMap((cell) => compareCell(cell, settings));
  const planted = compared.filter(({ strength }) => strength > 0);
  const corrected = new Map(holm(planted.map(({ p }) => p)).map((p, i) => [planted[i] as Uncorrected, p]));
  return compared.map((one) => {
    const correctedP = corrected.get(one) ?? one.p;
    return { ...one, correctedP, verdict: chooseVerdict(one.difference.mean, { correctedP }, settings.level) };
  });
}

/** Tests at strength 0 that reject at the level without correction. */
export interface NullControl {
  readonly tests: number;
  readonly better: number;
  readonly worse: number;
  /** What is expected of each if no arm differs: half of (1 - level) of the tests. */
  readonly expected: number;
}

export function countNullRejections(compared: readonly PlantedComparison[], level: number): NullControl {
  const tests = compared.filter(({ strength }) => strength === 0);
  const count = (verdict: PlantedComparison['verdict']) => tests.filter((one) => one.verdict === verdict).length;
  return {
    tests: tests.length,
    better: count('better'),
    worse: count('worse'),
    expected: ((1 - level) / 2) * tests.length,
  };
}
