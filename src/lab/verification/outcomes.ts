import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import {
  computeMeanInterval,
  computePopulationVariance,
  computeSampleVariance,
  mergeOutcomeStatistics,
  updateOutcomeStatistics,
} from '../../memory/outcomes/outcome-statistics.ts';
import { computePriors } from '../../memory/outcomes/prior-bundle.ts';
import { EMPTY_OUTCOME_STATISTICS, type OutcomeStatistics } from '../../model/turns/turn.ts';
import { type GoldenCase, HOST, type Part, type Topic } from './topic.ts';

const outcomesCase = z.looseObject({
  outcomes: z.array(z.number()),
  splitAt: z.int().min(0),
  expected: z.record(z.string(), z.unknown()),
});

/** The figures of statistics by their golden names. */
function listFigures(statistics: OutcomeStatistics): Readonly<Record<string, unknown>> {
  const variance = computePopulationVariance(statistics);
  return {
    count: statistics.count,
    mean: statistics.mean,
    populationVariance: variance,
    sampleVariance: computeSampleVariance(statistics),
    min: statistics.min,
    max: statistics.max,
    tInterval95: computeMeanInterval(statistics.mean, variance ?? 0, statistics.count),
  };
}

/** Running statistics of outcomes, and of the merge of two parts. */
export const outcomes: Topic = {
  name: 'outcomes',
  compute(golden: GoldenCase): readonly Part[] {
    const given = parse(outcomesCase, golden, golden.name);
    const { percentiles, ...expected } = given.expected;
    const summarise = (part: readonly number[]) => part.reduce(updateOutcomeStatistics, EMPTY_OUTCOME_STATISTICS);
    const parts = [given.outcomes.slice(0, given.splitAt), given.outcomes.slice(given.splitAt)].map(summarise);
    const [before, after] = parts as [OutcomeStatistics, OutcomeStatistics];
    const prior = computePriors(given.outcomes.map((outcome) => ({ outcome })));
    const figures = {
      running: listFigures(summarise(given.outcomes)),
      merged: listFigures(mergeOutcomeStatistics(before, after)),
    };
    return [
      ...Object.entries(figures).flatMap(([name, got]) =>
        Object.entries(expected).map(([at, value]) => ({
          at: `${name} ${at}`,
          expected: value,
          got: got[at],
          tolerance: HOST,
        })),
      ),
      { at: 'percentiles', expected: percentiles, got: prior.percentiles, tolerance: HOST },
    ];
  },
};
