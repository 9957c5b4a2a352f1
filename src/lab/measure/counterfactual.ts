import { ValidationError } from '../../core/errors/errors.ts';
import {
  type BootstrapOptions,
  type Clusters,
  type Estimate,
  groupIntoClusters,
  meanIntervals,
} from '../../eval/intervals/mean-intervals.ts';

/** A choice that a system logged, and what the choice of another system would have been. */
export interface LoggedChoice {
  /** Choices of one conversation are not independent. */
  readonly cluster: string;
  /** The probability with which the system made this choice, above 0. */
  readonly propensity: number;
  /** The probability with which the other system makes the same choice. */
  readonly target: number;
  /** How well it went. */
  readonly reward: number;
  /** What a model expects of the choice that was made, and of the other system on average; only the doubly robust estimate reads it. */
  readonly expected?: { readonly logged: number; readonly target: number };
}

/**
 * `ips`: inverse propensity scoring. `snips`: the same, divided by the mean weight. `dr`: doubly robust, the expectation of a model plus the weighted error of
 * the model. Sources: horvitz1952sampling, swaminathan2015self, dudik2011doubly.
 */
export const COUNTERFACTUAL_ESTIMATORS = Object.freeze(['ips', 'snips', 'dr'] as const);
/** One of {@link COUNTERFACTUAL_ESTIMATORS}. */
export type CounterfactualEstimator = (typeof COUNTERFACTUAL_ESTIMATORS)[number];

/** What another system would have earned. */
export interface CounterfactualEstimate {
  readonly value: Estimate;
  /** (sum w)^2 / sum w^2, of the weights w = target / propensity: the number of choices that the estimate rests on. */
  readonly effectiveSize: number;
  /** 1 if the log holds every choice that the other system can make; far from 1 it does not. */
  readonly meanWeight: number;
  readonly largestWeight: number;
}

function assertChoices(choices: readonly LoggedChoice[], estimator: CounterfactualEstimator): void {
  if (choices.length === 0) throw new ValidationError('log has no choice; pass at least one', {});
  for (const [i, { propensity, target, reward, expected }] of choices.entries()) {
    const refuse = (what: string, value: unknown, remedy: string) =>
      new ValidationError(`${what} of choice ${i} is ${value}; ${remedy}`, { choice: i });
    if (!(propensity > 0 && propensity <= 1))
      throw refuse('propensity', propensity, 'log the probability of the choice, above 0 and at most 1');
    if (!(target >= 0 && target <= 1)) throw refuse('target', target, 'give a probability');
    if (!Number.isFinite(reward)) throw refuse('reward', reward, 'give a finite number');
    if (estimator === 'dr' && expected === undefined)
      throw refuse('expected', 'missing', 'give what a model expects, or use ips or snips');
  }
}

/** [n] values whose mean is the estimate, or whose mean is 0 and which spread as the estimate does. */
function computeInfluences(
  choices: readonly LoggedChoice[],
  weights: Float64Array,
  estimator: CounterfactualEstimator,
): { readonly centre: number; readonly values: Float64Array } {
  const of = (compute: (choice: LoggedChoice, weight: number) => number) =>
    Float64Array.from(choices, (choice, i) => compute(choice, weights[i] as number));
  if (estimator === 'ips') return { centre: 0, values: of(({ reward }, weight) => weight * reward) };
  if (estimator === 'dr') {
    const values = of(({ reward, expected }, weight) => {
      const { logged, target } = expected as NonNullable<LoggedChoice['expected']>;
      return target + weight * (reward - logged);
    });
    return { centre: 0, values };
  }
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0)
    throw new ValidationError('the other system makes none of the logged choices; log more of them, or use dr', {});
  const centre = choices.reduce((sum, { reward }, i) => sum + (weights[i] as number) * reward, 0) / total;
  // A ratio of means, linearised at the estimate.
  const scale = choices.length / total;
  return { centre, values: of(({ reward }, weight) => scale * weight * (reward - centre)) };
}

/**
 * What another system would have earned, from the log of a system that chose at random: its value, with an interval over clusters.
 *
 * @throws ValidationError for an empty log, a propensity outside (0, 1], a missing expectation of `dr`, and a `snips` of which every weight is 0.
 */
export function estimateFromLog(
  choices: readonly LoggedChoice[],
  estimator: CounterfactualEstimator,
  options: BootstrapOptions,
): CounterfactualEstimate {
  assertChoices(choices, estimator);
  const weights = Float64Array.from(choices, ({ target, propensity }) => target / propensity);
  const clusters: Clusters = groupIntoClusters(choices.map(({ cluster }) => cluster));
  const { centre, values } = computeInfluences(choices, weights, estimator);
  const [spread] = meanIntervals([values], clusters, options) as [Estimate];
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const squares = weights.reduce((total, weight) => total + weight * weight, 0);
  return {
    value:
      spread.low === null
        ? { mean: centre + spread.mean, low: null, high: null }
        : { mean: centre + spread.mean, low: centre + spread.low, high: centre + spread.high },
    effectiveSize: squares === 0 ? 0 : (sum * sum) / squares,
    meanWeight: sum / weights.length,
    largestWeight: weights.reduce((most, weight) => Math.max(most, weight), 0),
  };
}
