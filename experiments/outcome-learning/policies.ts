import type { Random } from '../../src/core/numbers/random.ts';
import { computePriors } from '../../src/memory/outcomes/prior-bundle.ts';
import type { OutcomeStatistics } from '../../src/model/turns/turn.ts';

/** A record that was found: its recorded outcomes, and its hidden rate of success. */
export interface FoundRecord {
  readonly stats: OutcomeStatistics;
  readonly rate: number;
}

/** The inputs of a policy besides the records. */
interface PolicyInputs {
  readonly random: Random;
  /** The count of outcomes that weigh as much as the prior. */
  readonly kappa: number;
}

/** A way to rank what a question finds, and to record outcomes. */
export interface Policy {
  readonly name: string;
  /** The same policy without exploration; null: the policy explores nothing. */
  readonly greedy: string | null;
  /** Outcomes are recorded of the records that are shown, of others in their place, or of records that are drawn. */
  readonly records: 'shown' | 'exchanged' | 'drawn';
  /** True if the last place that is shown is given to a drawn record now and then. */
  readonly draws: boolean;
  /** The outcome of a failure; that of a success is 1. */
  readonly failure: 0 | -1;
  /** True if the reranker weighs outcomes against the prior. */
  readonly hasPrior: boolean;
  /** The outcome of each record that the reranker reads, null for none; absent: the recorded ones. */
  readonly readOutcomes?: (found: readonly FoundRecord[], inputs: PolicyInputs) => readonly (number | null)[];
}

/** A draw from the gamma distribution of scale 1 (marsaglia2000gamma). @param shape from 0; 0 gives 0. */
function drawGamma(shape: number, random: Random): number {
  if (shape === 0) return 0;
  if (shape < 1) return drawGamma(shape + 1, random) * (1 - random.uniform()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = random.drawNormal();
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random.uniform()) < (x * x) / 2 + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** A draw from the beta distribution. @param a from 0, and b; not both 0. */
export function drawBeta(a: number, b: number, random: Random): number {
  const [x, y] = [drawGamma(a, random), drawGamma(b, random)];
  return x / (x + y);
}

/** Before the first outcome. */
const NO_RATE = 0.5;

/** A draw from the posterior of each rate: the prior is that over all records that were found, with a count of kappa. */
function drawRates(found: readonly FoundRecord[], { random, kappa }: PolicyInputs): number[] {
  const observed = found.map(({ stats }) => ({ outcome: null, stats }));
  const mean = computePriors(observed, null, { pool: 'stats' }).mean ?? NO_RATE;
  return found.map(({ stats: { count, mean: own } }) =>
    drawBeta(kappa * mean + count * own, kappa * (1 - mean) + count * (1 - own), random),
  );
}

const plain = { greedy: null, records: 'shown', draws: false, failure: 0, hasPrior: false } as const;

/** The policy that every other one is compared with. */
export const BASE = 'similarity';

/** The policies of the experiment. */
export const POLICIES: readonly Policy[] = [
  { ...plain, name: BASE, readOutcomes: (found) => found.map(() => null) },
  { ...plain, name: 'mean' },
  { ...plain, name: 'mean, a place by lot', greedy: 'mean', draws: true },
  { ...plain, name: 'mean, failures −1', failure: -1 },
  { ...plain, name: 'prior', hasPrior: true },
  { ...plain, name: 'posterior draw', greedy: 'prior', readOutcomes: drawRates },
  { ...plain, name: 'mean, recorded of drawn records', records: 'drawn' },
  { ...plain, name: 'prior, recorded of drawn records', records: 'drawn', hasPrior: true },
  { ...plain, name: 'mean, exchanged', records: 'exchanged' },
  { ...plain, name: 'prior, exchanged', records: 'exchanged', hasPrior: true },
  { ...plain, name: 'known rates', readOutcomes: (found) => found.map(({ rate }) => rate) },
];
