import { ValidationError } from '../../src/core/errors/errors.ts';
import { createRandom } from '../../src/core/numbers/random.ts';
import {
  type Clusters,
  type Estimate,
  groupIntoClusters,
  meanIntervals,
} from '../../src/eval/intervals/mean-intervals.ts';
import { holm } from '../../src/eval/significance/multiple-comparisons.ts';
import { signFlipPermutation } from '../../src/eval/significance/sign-flip-permutation.ts';
import type { Calibration } from '../../src/rank/learning/calibration.ts';
import { binOutcomes, measureCoverage, resampleCalibrationError } from './calibration.ts';
import { type Forecast, forecast } from './forecasts.ts';
import type { NeighbourSeries } from './neighbours.ts';
import type { OutcomeTurn } from './outcome-series.ts';
import type { PriorCalibrationSettings } from './settings.ts';

/** A difference in Brier score, arm minus reference: negative is better. */
export interface BrierDifference {
  readonly difference: Estimate;
  readonly p: number;
  /** Corrected by Holm over the arms and both references of a task. */
  readonly correctedP: number;
}

/** Coverage of the intervals of an arm's priors. */
export interface CoverageSummary {
  readonly outcome: Estimate;
  readonly rate: Estimate;
  readonly rateByStudent: Estimate;
  readonly drawnRate: Estimate;
  readonly intervals: number;
  readonly medianWidth: number | null;
}

export interface ArmResult {
  readonly name: string;
  readonly chosen: Forecast['chosen'];
  readonly brier: Estimate;
  readonly calibration: Calibration;
  readonly calibrationError: { readonly low: number; readonly high: number };
  /** By the name of the reference; absent for the reference itself. */
  readonly differences: Readonly<Record<string, BrierDifference>>;
  readonly coverage: CoverageSummary | null;
}

export interface TaskResult {
  readonly name: string;
  readonly turns: number;
  readonly dev: { readonly turns: number; readonly rate: number };
  readonly test: { readonly turns: number; readonly rate: number; readonly clusters: number };
  readonly facts: Readonly<Record<string, number>>;
  readonly arms: readonly ArmResult[];
}

/** What arms are compared with. */
export const REFERENCES = ['base rate', 'neighbours'] as const;

/** The test turns of a series. */
interface TestPart {
  readonly rows: readonly number[];
  readonly outcomes: Float64Array;
  readonly clusters: Clusters;
}

function selectTest(name: string, turns: readonly OutcomeTurn[]): TestPart {
  const rows = [...turns.keys()].filter((i) => turns[i]?.dev === false);
  if (rows.length < 2 || rows.length === turns.length)
    throw new ValidationError(
      `task ${name} has ${rows.length} test turns of ${turns.length}; use data with at least 2 test turns and a dev turn`,
      { test: rows.length, turns: turns.length },
    );
  return {
    rows,
    outcomes: Float64Array.from(rows, (i) => turns[i]?.outcome as number),
    clusters: groupIntoClusters(rows.map((i) => turns[i]?.cluster as string)),
  };
}

function summariseCoverage(arm: Forecast, test: TestPart, settings: PriorCalibrationSettings): CoverageSummary | null {
  const { priors: all, drawPrior } = arm;
  if (all === undefined || drawPrior === undefined) return null;
  const priors = test.rows.map((i) => all[i] as (typeof all)[number]);
  const stream = createRandom(settings.seed, `coverage ${arm.name}`);
  const draw = (turn: number, rate: number) =>
    drawPrior(test.rows[turn] as number, () => Number(stream.uniform() < rate));
  const { intervals, medianWidth, ...columns } = measureCoverage(priors, test.outcomes, settings.bins, draw);
  const [outcome, rate, rateByStudent, drawnRate] = meanIntervals(
    [columns.outcome, columns.rate, columns.rateByStudent, columns.drawnRate],
    test.clusters,
    settings,
  ) as [Estimate, Estimate, Estimate, Estimate];
  return { outcome, rate, rateByStudent, drawnRate, intervals, medianWidth };
}

/** For each arm its differences from the references. */
function compare(
  names: readonly string[],
  scores: readonly Float64Array[],
  test: TestPart,
  settings: PriorCalibrationSettings,
) {
  const pairs = REFERENCES.flatMap((reference) => {
    const base = scores[names.indexOf(reference)] as Float64Array;
    return names
      .filter((name) => name !== reference && name !== REFERENCES[0])
      .map((name) => {
        const own = scores[names.indexOf(name)] as Float64Array;
        return { name, reference, column: own.map((score, i) => score - (base[i] as number)) };
      });
  });
  const columns = pairs.map(({ column }) => column);
  const intervals = meanIntervals(columns, test.clusters, settings);
  const tests = signFlipPermutation(columns, test.clusters, settings);
  const corrected = holm(tests.map(({ p }) => p));
  return names.map((name) =>
    Object.fromEntries(
      pairs.flatMap((pair, i) =>
        pair.name === name
          ? [
              [
                pair.reference,
                { difference: intervals[i] as Estimate, p: tests[i]?.p as number, correctedP: corrected[i] as number },
              ],
            ]
          : [],
      ),
    ),
  );
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Predicts the outcomes of a series and measures the predictions of its test turns. */
export function measureTask(found: NeighbourSeries, settings: PriorCalibrationSettings): TaskResult {
  const { name, turns, facts } = found.series;
  const test = selectTest(name, turns);
  const arms = forecast(found, settings);
  const probabilities = arms.map((arm) => Float64Array.from(test.rows, (i) => arm.probabilities[i] as number));
  const scores = probabilities.map((values) => values.map((value, i) => (value - (test.outcomes[i] as number)) ** 2));
  const briers = meanIntervals(scores, test.clusters, settings);
  const differences = compare(
    arms.map((arm) => arm.name),
    scores,
    test,
    settings,
  );
  const dev = turns.filter((turn) => turn.dev).map(({ outcome }) => outcome);
  return {
    name,
    turns: turns.length,
    dev: { turns: dev.length, rate: mean(dev) },
    test: { turns: test.rows.length, rate: mean([...test.outcomes]), clusters: test.clusters.sizes.length },
    facts,
    arms: arms.map((arm, i) => ({
      name: arm.name,
      chosen: arm.chosen,
      brier: briers[i] as Estimate,
      calibration: binOutcomes(probabilities[i] as Float64Array, test.outcomes, settings.bins),
      calibrationError: resampleCalibrationError(
        probabilities[i] as Float64Array,
        test.outcomes,
        test.clusters,
        settings,
      ),
      differences: differences[i] as ArmResult['differences'],
      coverage: summariseCoverage(arm, test, settings),
    })),
  };
}
