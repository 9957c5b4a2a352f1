import { groupIntoClusters } from '../../src/evaluation/clusters.ts';
import { type Estimate, meanIntervals } from '../../src/evaluation/mean-intervals.ts';
import { AGES, type EntranceFeatures, type HistoryFeatures, NEAREST } from './features.ts';

/** What is known of the new conversation: only the time, or the person's words too. */
export const SITUATIONS = ['before the first word', 'with the first words'] as const;
export type Situation = (typeof SITUATIONS)[number];
/** Whose earlier turns are read. */
export const HISTORIES = ['own', 'others'] as const;
type History = (typeof HISTORIES)[number];

/** Weights of an arm; an age and a number of nearest turns are indexes. */
export interface ArmWeights {
  readonly age: number;
  readonly newness: number;
  readonly words: number;
  readonly nearest: number;
  readonly topics: number;
  readonly partners: number;
}

const WEIGHTS = [0, 0.03, 0.1, 0.3, 1, 3] as const;
const NO_HISTORY = { nearest: 0, topics: 0, partners: 0 } as const;

/** 1 / the place of the message that was answered; equal scores share their places. */
export function computeReciprocalRank(features: EntranceFeatures, weights: ArmWeights, history: History): number {
  const { newness, words, entrance } = features;
  const { topics, partners }: HistoryFeatures = features[history];
  const [recent, near] = [newness[weights.age] as Float64Array, topics[weights.nearest] as Float64Array];
  const score = (i: number) =>
    weights.newness * (recent[i] as number) +
    weights.words * (words[i] as number) +
    weights.topics * (near[i] as number) +
    weights.partners * (partners[i] as number);
  const answered = score(entrance.answered);
  let rank = 1;
  for (let i = 0; i < words.length; i++) {
    const other = score(i);
    if (i !== entrance.answered) rank += other > answered ? 1 : other === answered ? 0.5 : 0;
  }
  return 1 / rank;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The first of some weights with the highest mean reciprocal rank. */
function choose(dev: readonly EntranceFeatures[], grid: readonly ArmWeights[], history: History): ArmWeights {
  const rated = grid.map((weights) => ({
    weights,
    value: mean(dev.map((features) => computeReciprocalRank(features, weights, history))),
  }));
  return rated.reduce((best, one) => (one.value > best.value ? one : best)).weights;
}

function listBases(situation: Situation): ArmWeights[] {
  const isMute = situation === 'before the first word';
  return AGES.flatMap((_, age) =>
    isMute
      ? [{ ...NO_HISTORY, age, newness: 1, words: 0 }]
      : WEIGHTS.map((newness) => ({ ...NO_HISTORY, age, newness, words: 1 })),
  );
}

/** An arm with what was chosen on dev, and its reciprocal rank on test. */
export interface PatternArm {
  readonly situation: Situation;
  readonly name: string;
  readonly weights: ArmWeights;
  readonly reciprocalRank: Estimate;
  /** Minus the arm without a history; null for that arm. */
  readonly gain: Estimate | null;
  /** Of an arm with the person's own history: minus the same arm with another's. */
  readonly gainOverOther: Estimate | null;
}

/** Arms by the part of the history that they read. */
const PARTS = {
  topics: (base: ArmWeights) =>
    NEAREST.flatMap((_, nearest) => WEIGHTS.map((topics) => ({ ...base, nearest, topics }))),
  partners: (base: ArmWeights) => WEIGHTS.map((partners) => ({ ...base, partners })),
  'topics and partners': (base: ArmWeights) =>
    NEAREST.flatMap((_, nearest) =>
      WEIGHTS.flatMap((topics) => WEIGHTS.map((partners) => ({ ...base, nearest, topics, partners }))),
    ),
} as const;

/** Chooses every arm on dev, then measures it on test. Intervals are over people. */
export function measureArms(
  dev: readonly EntranceFeatures[],
  test: readonly EntranceFeatures[],
  bootstrap: { readonly seed: number; readonly samples: number; readonly level: number },
): PatternArm[] {
  const clusters = groupIntoClusters(test.map(({ entrance }) => entrance.author));
  const estimate = (values: readonly number[]) => meanIntervals([values], clusters, bootstrap)[0] as Estimate;
  const subtract = (a: readonly number[], b: readonly number[]) =>
    estimate(a.map((value, i) => value - (b[i] as number)));
  return SITUATIONS.flatMap((situation): PatternArm[] => {
    const rank = (weights: ArmWeights, history: History) =>
      test.map((features) => computeReciprocalRank(features, weights, history));
    const base = choose(dev, listBases(situation), 'own');
    const baseRanks = rank(base, 'own');
    const arms = Object.entries(PARTS).flatMap(([part, list]) => {
      const found = HISTORIES.map((history) => {
        const weights = choose(dev, list(base), history);
        return { history, weights, ranks: rank(weights, history) };
      });
      const others = found[1]?.ranks as number[];
      return found.map(({ history, weights, ranks }) => ({
        ...{ situation, name: history === 'own' ? `own ${part}` : `another's ${part}`, weights },
        reciprocalRank: estimate(ranks),
        gain: subtract(ranks, baseRanks),
        gainOverOther: history === 'own' ? subtract(ranks, others) : null,
      }));
    });
    const name = 'no history';
    const first = {
      situation,
      name,
      weights: base,
      reciprocalRank: estimate(baseRanks),
      gain: null,
      gainOverOther: null,
    };
    return [first, ...arms];
  });
}
