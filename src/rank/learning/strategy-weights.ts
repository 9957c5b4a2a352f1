import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import { getOrCompute } from '../../core/values/once.ts';
import { STRATEGY_WEIGHTS, type StrategyName } from '../query/strategy.ts';
import { MEMORY_SIGNALS, type MemorySignals } from '../signals/memory-signals.ts';

/** A question of a user: what was shown, and which of it was used. */
export interface StrategyFeedback {
  readonly user: string;
  readonly strategy: StrategyName;
  readonly shown: readonly { readonly signals: MemorySignals; readonly used: boolean }[];
}

/** The schema of {@link StrategyLearningOptions}. */
export const strategyLearningOptions = z.strictObject({
  /** Questions at which learned weights and those of the strategy count alike. */
  kappa: z.number().min(0).default(50),
  /** With fewer questions a user has the weights of the strategy. */
  least: z.int().min(1).default(10),
  /** Of the softmax over what was shown. */
  temperature: z.number().gt(0).default(0.05),
  steps: z.int().min(1).max(10_000).default(300),
  stepSize: z.number().gt(0).default(0.5),
});
/** How weights are learned; all have a default. */
export type StrategyLearningOptions = z.input<typeof strategyLearningOptions>;

/** Weights of a user for one strategy. */
export interface UserStrategyWeights {
  readonly weights: MemorySignals;
  /** The questions that they are learned from. */
  readonly questions: number;
  /** The share of the learned weights, n / (n + kappa); 0 where there were too few questions. */
  readonly share: number;
}

/** By user, then by strategy: what `relevance.options.strategy.users` of an arm takes are the `weights`. */
export type LearnedUserWeights = ReadonlyMap<string, Readonly<Partial<Record<StrategyName, UserStrategyWeights>>>>;

/** Memories that were used, and all that were shown, as rows of signals. */
type Question = readonly { readonly row: readonly number[]; readonly used: boolean }[];

function toRows({ shown }: StrategyFeedback): Question {
  return shown.map(({ signals, used }) => ({ row: MEMORY_SIGNALS.map((name) => signals[name]), used }));
}

/** A question tells nothing where all or none of what was shown was used. */
const tells = ({ shown }: StrategyFeedback) => shown.some(({ used }) => used) && shown.some(({ used }) => !used);

/** Adds the gradient of the mean log probability of what was used, over the weights. */
function addGradient(question: Question, weights: readonly number[], temperature: number, gradient: number[]): void {
  const scores = question.map(({ row }) => row.reduce((sum, value, i) => sum + value * (weights[i] as number), 0));
  const best = Math.max(...scores);
  const masses = scores.map((score) => Math.exp((score - best) / temperature));
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  const used = question.filter((one) => one.used).length;
  for (const [m, { row, used: isUsed }] of question.entries()) {
    const pull = (isUsed ? 1 / used : 0) - (masses[m] as number) / total;
    for (const [i, value] of row.entries()) gradient[i] = (gradient[i] as number) + (pull * value) / temperature;
  }
}

/** Exponentiated gradient: the weights stay positive with a sum of 1. */
function fitWeights(
  questions: readonly Question[],
  start: readonly number[],
  { temperature, steps, stepSize }: z.output<typeof strategyLearningOptions>,
): number[] {
  let weights = [...start];
  for (let step = 0; step < steps; step++) {
    const gradient = start.map(() => 0);
    for (const question of questions) addGradient(question, weights, temperature, gradient);
    // Steps are bounded by the largest change, whatever the scale of the signals.
    const scale = Math.max(1, ...gradient.map((value) => Math.abs(value / questions.length)));
    const grown = weights.map(
      (weight, i) => weight * Math.exp((stepSize * (gradient[i] as number)) / (questions.length * scale)),
    );
    const sum = grown.reduce((total, value) => total + value, 0);
    weights = grown.map((value) => value / sum);
  }
  return weights;
}

function learn(
  feedback: readonly StrategyFeedback[],
  strategy: StrategyName,
  settings: z.output<typeof strategyLearningOptions>,
) {
  const prior = STRATEGY_WEIGHTS[strategy];
  const questions = feedback.filter(tells).map(toRows);
  const n = questions.length;
  if (n < settings.least) return { weights: prior, questions: n, share: 0 };
  const start = MEMORY_SIGNALS.map((name) => prior[name]);
  const fitted = fitWeights(questions, start, settings);
  const share = n / (n + settings.kappa);
  const weights = Object.fromEntries(
    MEMORY_SIGNALS.map((name, i) => [name, share * (fitted[i] as number) + (1 - share) * prior[name]]),
  ) as unknown as MemorySignals;
  return { weights, questions: n, share };
}

/**
 * Learns the weights of each user and strategy from what was used of what was shown, and shrinks them towards those of the strategy: n questions give them the share
 * n / (n + kappa). A user with fewer than `least` questions of a strategy keeps its weights.
 *
 * Costs steps x memories x 5. Pass feedback of training conversations only.
 *
 * @throws ConfigurationError for options out of range.
 */
export function learnStrategyWeights(
  feedback: readonly StrategyFeedback[],
  given: StrategyLearningOptions = {},
): LearnedUserWeights {
  const settings = parse(strategyLearningOptions, given, 'the options of strategy weights');
  const groups = new Map<string, Map<StrategyName, StrategyFeedback[]>>();
  for (const one of feedback) {
    const own = getOrCompute(groups, one.user, () => new Map<StrategyName, StrategyFeedback[]>());
    getOrCompute(own, one.strategy, () => [] as StrategyFeedback[]).push(one);
  }
  const learnAll = (own: ReadonlyMap<StrategyName, readonly StrategyFeedback[]>) =>
    Object.fromEntries(Array.from(own, ([strategy, of]) => [strategy, learn(of, strategy, settings)]));
  return new Map(Array.from(groups, ([user, own]) => [user, learnAll(own)]));
}
