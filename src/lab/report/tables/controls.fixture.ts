import type { FitResult, Importance, NullControl } from '../../measure/fit-result.ts';
import type { ArmResult, Comparison, Fitted } from '../../measure/result.ts';
import { inventFitted } from '../page/invented-fit.fixture.ts';

const sample = inventFitted(7, { signals: 5, folds: 3, epochs: 5, queries: 29 });
const METRIC = 'recall@10';

function buildComparisons(mean: number, correctedP = 0.5): Record<string, Comparison> {
  const decided = mean > 0 ? ('better' as const) : ('worse' as const);
  const comparison = {
    difference: { mean, low: mean - 0.0625, high: mean + 0.0625 },
    p: correctedP / 2,
    correctedP,
    samples: 10_000,
    unresolved: false,
    verdict: correctedP < 0.05 ? decided : ('undecided' as const),
    effectSize: 0.25,
    minimumDetectable: 0.03,
    wins: 11,
    ties: 13,
    losses: 5,
    clusterWins: 4,
    clusterTies: 1,
    clusterLosses: 2,
    signFlipP: 0.4375,
  };
  return { [METRIC]: comparison };
}

const buildControlMetrics = (mean: number) => ({ [METRIC]: { mean, low: mean - 0.125, high: mean + 0.125 } });

/** Two arms with the given means. */
export function buildHandmadeArms(baseline: number, learned: number): ArmResult[] {
  const [first] = sample.arms as [ArmResult];
  return [
    { ...first, name: 'hand-tuned', metrics: buildControlMetrics(baseline), comparisons: null },
    {
      ...first,
      name: 'learned',
      metrics: buildControlMetrics(learned),
      comparisons: buildComparisons(learned - baseline, 0.01),
    },
  ];
}

/** A control by its mean and what was learned without it; it leaves the baseline as it is. */
export function buildHandmadeControl(part: string, learned: number, control: number, correctedP?: number): NullControl {
  const comparisons = buildComparisons(control - learned, correctedP);
  const baseline = { isUnchanged: true, comparisons: buildComparisons(0) };
  return { part, signals: [`${part}:a`, `${part}:b`], metrics: buildControlMetrics(control), comparisons, baseline };
}

/** A control that changes the baseline too. */
export function withBaseline(control: NullControl, difference: number, correctedP?: number): NullControl {
  return { ...control, baseline: { isUnchanged: false, comparisons: buildComparisons(difference, correctedP) } };
}

/** A family by the effect of its absence. */
export function buildHandmadeFamily(family: string, difference: number, correctedP?: number): Importance {
  return { family, signals: [family], comparisons: buildComparisons(difference, correctedP) };
}

/** A training of these arms with one metric, and nothing below its table but what is given. */
export function buildHandmadeTraining(arms: readonly ArmResult[], fit: Partial<FitResult> = {}): Fitted {
  const bare = { ...sample.fit, importance: [], controls: [] };
  return { ...sample, metrics: [METRIC], arms, strata: [], fit: { ...bare, ...fit } };
}
