import { type Estimate, groupIntoClusters, meanIntervals } from '../../src/eval/intervals/mean-intervals.ts';
import { AGES, type EntranceFeatures, type HistoryFeatures, NEAREST, OWN } from './features.ts';

/** What is known of the new conversation: only the time, or the person's words too. */
export const SITUATIONS = ['before the first word', 'with the first words'] as const;
export type Situation = (typeof SITUATIONS)[number];
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

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** 1 / the place of the message that was answered; of equal scores the mean over their orders, so that an order by chance gains nothing. */
export function computeReciprocalRank(features: EntranceFeatures, weights: ArmWeights, history: string): number {
  const { newness, words, entrance } = features;
  const { topics, partners } = features.histories[history] as HistoryFeatures;
  const [recent, near] = [newness[weights.age] as Float64Array, topics[weights.nearest] as Float64Array];
  const score = (i: number) =>
    weights.newness * (recent[i] as number) +
    weights.words * (words[i] as number) +
    weights.topics * (near[i] as number) +
    weights.partners * (partners[i] as number);
  const answered = score(entrance.answered);
  let [better, equal] = [0, 0];
  for (let i = 0; i < words.length; i++) {
    const other = score(i);
    if (other > answered) better++;
    else if (other === answered) equal++; // also the answered one
  }
  return mean(Array.from({ length: equal }, (_, i) => 1 / (better + 1 + i)));
}

/** The first of some weights with the highest mean reciprocal rank. */
function choose(dev: readonly EntranceFeatures[], grid: readonly ArmWeights[], history: string): ArmWeights {
  const rated = grid.map((weights) => ({
    weights,
    value: mean(dev.map((features) => computeReciprocalRank(features, weights, history))),
  }));
  return rated.reduce((best, one) => (one.value > best.value ? one : best)).weights;
}

function listBases(situation: Situation, hasNewness: boolean): ArmWeights[] {
  const words = situation === 'before the first word' ? 0 : 1;
  if (!hasNewness) return [{ ...NO_HISTORY, age: 0, newness: 0, words }];
  return AGES.flatMap((_, age) =>
    words === 0
      ? [{ ...NO_HISTORY, age, newness: 1, words }]
      : WEIGHTS.map((newness) => ({ ...NO_HISTORY, age, newness, words })),
  );
}

/** Entrances on which an arm is chosen, and others on which it is measured. */
export interface Fold {
  readonly dev: readonly EntranceFeatures[];
  readonly test: readonly EntranceFeatures[];
}

/** An arm with what was chosen on dev, and its reciprocal rank on test. */
export interface PatternArm {
  readonly situation: Situation;
  readonly name: string;
  /** Of each fold. */
  readonly weights: readonly ArmWeights[];
  readonly reciprocalRank: Estimate;
  /** Minus the arm without a history; null for that arm. */
  readonly gain: Estimate | null;
  /** Of an arm with the person's own history: minus the same arm with the history of a null control, by its name. */
  readonly gainOver: Readonly<Record<string, Estimate>>;
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

interface MeasureOptions {
  readonly seed: number;
  readonly samples: number;
  readonly level: number;
  /** True if newer candidates may score higher. */
  readonly hasNewness: boolean;
  /** What is resampled. */
  readonly clusterOf: (features: EntranceFeatures) => string;
}

/** Chooses every arm on the dev entrances of each fold, then measures it on those of test. */
export function measureArms(folds: readonly Fold[], { hasNewness, clusterOf, ...bootstrap }: MeasureOptions) {
  const test = folds.flatMap((fold) => fold.test);
  const clusters = groupIntoClusters(test.map(clusterOf));
  const estimate = (values: readonly number[]) => meanIntervals([values], clusters, bootstrap)[0] as Estimate;
  const subtract = (a: readonly number[], b: readonly number[]) =>
    estimate(a.map((value, i) => value - (b[i] as number)));
  const measure = (history: string, list: (fold: number) => readonly ArmWeights[]) => {
    const weights = folds.map(({ dev }, fold) => choose(dev, list(fold), history));
    const ranks = folds.flatMap((fold, i) =>
      fold.test.map((features) => computeReciprocalRank(features, weights[i] as ArmWeights, history)),
    );
    return { weights, ranks };
  };
  const histories = Object.keys((test[0] as EntranceFeatures).histories);
  return SITUATIONS.flatMap((situation): PatternArm[] => {
    const base = measure(OWN, () => listBases(situation, hasNewness));
    const arms = Object.entries(PARTS).flatMap(([part, list]) => {
      const found = histories.map((history) => ({
        ...measure(history, (fold) => list(base.weights[fold] as ArmWeights)),
        history,
      }));
      const controls = found.filter(({ history }) => history !== OWN);
      return found.map(({ history, weights, ranks }) => ({
        ...{ situation, name: `${history} ${part}`, weights },
        reciprocalRank: estimate(ranks),
        gain: subtract(ranks, base.ranks),
        gainOver: Object.fromEntries(
          history === OWN ? controls.map((control) => [control.history, subtract(ranks, control.ranks)]) : [],
        ),
      }));
    });
    const reciprocalRank = estimate(base.ranks);
    const first = { situation, name: 'no history', weights: base.weights, reciprocalRank, gain: null, gainOver: {} };
    return [first, ...arms];
  });
}
