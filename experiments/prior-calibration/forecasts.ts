import { computePriors, PRIOR_KAPPA, type PriorBundle } from '../../src/memory/outcomes/prior-bundle.ts';
import { DEFAULT_K, type NeighbourSeries } from './neighbours.ts';
import type { PriorCalibrationSettings } from './settings.ts';

/** What an arm predicts. */
export interface Forecast {
  readonly name: string;
  /** [turns] probability of outcome 1. */
  readonly probabilities: Float64Array;
  /** [turns] the bundle that the probability comes from; absent for arms without neighbours. */
  readonly priors?: readonly PriorBundle[];
  /** The prior of a turn if the outcomes of its neighbours were others. */
  readonly drawPrior?: DrawPrior;
  /** What was chosen on dev. */
  readonly chosen: Readonly<Record<string, number>>;
}

/** Pools the neighbours of a turn with outcomes that a function gives. */
export type DrawPrior = (turn: number, drawOutcome: () => number) => PriorBundle;

/** Priors over neighbours. */
interface Pooled {
  readonly priors: readonly PriorBundle[];
  readonly drawPrior: DrawPrior;
}

/** Without any known outcome nothing is known. */
const NO_RATE = 0.5;

/** [turns] how many of the first outcomes are 1, for each length of the beginning. */
function sumOutcomes({ turns }: NeighbourSeries['series']): Float64Array {
  const sums = new Float64Array(turns.length + 1);
  for (const [i, { outcome }] of turns.entries()) sums[i + 1] = (sums[i] as number) + outcome;
  return sums;
}

/** The share of ones among the latest outcomes that are known at each turn; all of them if `latest` is infinite. */
export function forecastRate(name: string, { series, observed }: NeighbourSeries, latest: number): Forecast {
  const sums = sumOutcomes(series);
  const probabilities = Float64Array.from(observed, (known) => {
    const first = Math.max(0, known - latest);
    return known === 0 ? NO_RATE : ((sums[known] as number) - (sums[first] as number)) / (known - first);
  });
  return { name, probabilities, chosen: Number.isFinite(latest) ? { latest } : {} };
}

/** The priors of each turn's nearest k turns with a positive cosine; weights are cosines to a power, 0 weighs all alike. */
function poolNeighbours({ series, neighbours }: NeighbourSeries, k: number, power: number): Pooled {
  const { positions, scores, width } = neighbours;
  const pool = (query: number, readOutcome: (position: number) => number | null) => {
    const slots = Array.from({ length: k }, (__, i) => query * width + i).filter(
      (slot) => (positions[slot] as number) >= 0 && (scores[slot] as number) > 0,
    );
    const records = slots.map((slot) => ({ outcome: readOutcome(positions[slot] as number) }));
    const weights = power === 0 ? null : slots.map((slot) => (scores[slot] as number) ** power);
    return computePriors(records, weights);
  };
  return {
    priors: series.turns.map((_, query) => pool(query, (position) => series.turns[position]?.outcome ?? null)),
    drawPrior: pool,
  };
}

/** The mean of each prior; the base rate where there is none. */
function forecastMean(name: string, pooled: Pooled, base: Forecast, chosen: Forecast['chosen']): Forecast {
  const probabilities = base.probabilities.map((rate, i) => pooled.priors[i]?.mean ?? rate);
  return { name, probabilities, ...pooled, chosen };
}

/** Mean and base rate mixed by confidence: c mean + (1 - c) base rate. */
function forecastByConfidence(pooled: Pooled, base: Forecast, kappa: number, chosen: Forecast['chosen']): Forecast {
  const probabilities = base.probabilities.map((rate, i) => {
    const { mean, effectiveCount } = pooled.priors[i] as PriorBundle;
    if (mean === null) return rate;
    const confidence = effectiveCount / (effectiveCount + kappa);
    return confidence * mean + (1 - confidence) * rate;
  });
  return { name: 'prior', probabilities, ...pooled, chosen: { ...chosen, kappa } };
}

/** Mean Brier score of the dev turns. */
function scoreOnDev({ series }: NeighbourSeries, { probabilities }: Forecast): number {
  let [sum, count] = [0, 0];
  for (const [i, { outcome, dev }] of series.turns.entries()) {
    if (!dev) continue;
    sum += ((probabilities[i] as number) - outcome) ** 2;
    count++;
  }
  return sum / count;
}

/** The forecast with the least Brier score on dev, the first of equal ones. */
function chooseOnDev(found: NeighbourSeries, forecasts: readonly Forecast[]): Forecast {
  const scores = forecasts.map((forecast) => scoreOnDev(found, forecast));
  return forecasts[scores.indexOf(Math.min(...scores))] as Forecast;
}

/**
 * The arms: two base rates, and three that pool neighbours. Numbers of neighbours, powers, kappas and the length of the recent base rate are chosen by the
 * Brier score on dev, for each arm by itself; `default prior` has the defaults of the framework, 10 equal neighbours and kappa 5.
 */
export function forecast(found: NeighbourSeries, settings: PriorCalibrationSettings): Forecast[] {
  const base = forecastRate('base rate', found, Number.POSITIVE_INFINITY);
  const recent = settings.recent.map((latest) => forecastRate('recent base rate', found, latest));
  const pools = [0, ...settings.powers].flatMap((power) =>
    settings.neighbours.map((k) => ({ power, k, pooled: poolNeighbours(found, k, power) })),
  );
  const listMeans = (name: string, weighted: boolean) =>
    pools
      .filter(({ power }) => power > 0 === weighted)
      .map(({ k, power, pooled }) => forecastMean(name, pooled, base, weighted ? { k, power } : { k }));
  const mixed = pools.flatMap(({ k, power, pooled }) =>
    settings.kappas.map((kappa) => forecastByConfidence(pooled, base, kappa, { k, power })),
  );
  const standard = poolNeighbours(found, DEFAULT_K, 0);
  return [
    base,
    chooseOnDev(found, recent),
    chooseOnDev(found, listMeans('neighbours', false)),
    chooseOnDev(found, listMeans('weighted neighbours', true)),
    chooseOnDev(found, mixed),
    { ...forecastByConfidence(standard, base, PRIOR_KAPPA, { k: DEFAULT_K, power: 0 }), name: 'default prior' },
  ];
}
