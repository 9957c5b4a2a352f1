import { ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import {
  type BootstrapOptions,
  type Clusters,
  type Estimate,
  groupIntoClusters,
  meanIntervals,
} from '../../eval/intervals/mean-intervals.ts';
import type { RetrievalEvent } from '../../memory/retrievals/retrieval-event.ts';

/** A system of two that are compared. */
export type Team = 'a' | 'b';

/** A ranking that two systems made together. */
export interface InterleavedRanking {
  /** Best first, each id once. */
  readonly ids: readonly string[];
  /** Which system chose each place. */
  readonly teams: readonly Team[];
}

/**
 * Team-draft interleaving: in every round each system adds its best id that is not there yet, in an order that is drawn
 * for the round. Source: radlinski2008clickthrough.
 *
 * @param key of the query: the same seed and key give the same draws.
 * @param depth the most ids.
 */
export function interleaveByTeamDraft(
  a: readonly string[],
  b: readonly string[],
  { depth, seed, key }: { readonly depth: number; readonly seed: number; readonly key: string },
): InterleavedRanking {
  if (!Number.isInteger(depth) || depth < 1)
    throw new ValidationError(`depth is not a positive integer: ${depth}; pass a whole number from 1`, { depth });
  const random = createRandom(seed, `team-draft ${key}`);
  const rankings = { a: [...new Set(a)], b: [...new Set(b)] };
  const offsets = { a: 0, b: 0 };
  const teams = new Map<string, Team>();
  const choose = (team: Team): void => {
    const ranking = rankings[team];
    while (offsets[team] < ranking.length && teams.has(ranking[offsets[team]] as string)) offsets[team]++;
    const next = ranking[offsets[team]];
    if (next !== undefined && teams.size < depth) teams.set(next, team);
  };
  for (let before = -1; teams.size < depth && teams.size > before; ) {
    before = teams.size;
    const order: readonly Team[] = random.uniform() < 0.5 ? ['a', 'b'] : ['b', 'a'];
    for (const team of order) choose(team);
  }
  return { ids: [...teams.keys()], teams: [...teams.values()] };
}

/** The outcome of an interleaved ranking. */
interface InterleavedOutcome extends InterleavedRanking {
  readonly cluster: string;
  /** The ids that were of use. */
  readonly used: ReadonlySet<string>;
}

/** The comparison of two systems in interleaved rankings. */
export interface InterleavingResult {
  /**
   * The mean over rankings of 1 where more of `a` was of use, -1 where more of `b` was, 0 otherwise; above 0 `a` is
   * better.
   */
  readonly preference: Estimate;
  readonly wins: Readonly<Record<Team, number>>;
  readonly ties: number;
}

/** Credits each used id to the system that chose it. @throws ValidationError without an outcome. */
export function compareByInterleaving(
  outcomes: readonly InterleavedOutcome[],
  options: BootstrapOptions,
): InterleavingResult {
  const signs = outcomes.map(({ ids, teams, used }) => {
    const count = (team: Team) => ids.filter((id, i) => teams[i] === team && used.has(id)).length;
    return Math.sign(count('a') - count('b'));
  });
  const clusters = groupIntoClusters(outcomes.map(({ cluster }) => cluster));
  const [preference] = meanIntervals([signs], clusters, options) as [Estimate];
  const count = (sign: number) => signs.filter((value) => value === sign).length;
  return { preference, wins: { a: count(1), b: count(-1) }, ties: count(0) };
}

/** The choices of another system, and the definition of success. */
export interface ChoiceReading {
  /** The probability with which the other system makes the choice of the event. */
  readonly target: (event: RetrievalEvent) => number;
  /** The success of an event; default: 1 if anything was of use, else 0. */
  readonly reward?: (event: RetrievalEvent & { readonly used: readonly string[] }) => number;
  /** The expectation of a model, for the doubly robust estimate. */
  readonly expected?: (event: RetrievalEvent) => NonNullable<LoggedChoice['expected']>;
}

type KnownEvent = RetrievalEvent & { readonly used: readonly string[] };
const hasKnownUse = (event: RetrievalEvent): event is KnownEvent => event.used !== null;
/** Events of one session are not independent; without one, those of one question are not. */
const chooseCluster = ({ session, query }: RetrievalEvent) => session ?? query;
const wasOfUse = ({ used }: KnownEvent) => (used.length > 0 ? 1 : 0);

/** The choices of a log of retrievals, as `estimateFromLog` takes them; events whose use is not known are left out. */
export function listLoggedChoices(events: readonly RetrievalEvent[], reading: ChoiceReading): LoggedChoice[] {
  const { target, reward = wasOfUse, expected } = reading;
  return events.filter(hasKnownUse).map((event) => ({
    cluster: chooseCluster(event),
    propensity: event.propensity,
    target: target(event),
    reward: reward(event),
    ...(expected === undefined ? {} : { expected: expected(event) }),
  }));
}

/**
 * The interleaved rankings of a log of retrievals, as `compareByInterleaving` takes them; events without teams or whose
 * use is not known are left out.
 */
export function listInterleavedOutcomes(events: readonly RetrievalEvent[]): InterleavedOutcome[] {
  return events.filter(hasKnownUse).flatMap((event) => {
    const { retrieved: ids, teams, used } = event;
    return teams === null ? [] : [{ ids, teams, used: new Set(used), cluster: chooseCluster(event) }];
  });
}

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
