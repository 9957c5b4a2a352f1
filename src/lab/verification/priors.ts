import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import { computePriors } from '../../memory/outcomes/prior-bundle.ts';
import { type GoldenCase, HOST, type Part, type Topic } from './topic.ts';

const priorsCase = z.looseObject({
  outcomes: z.array(z.number()),
  weights: z.array(z.number()).nullable(),
  kappa: z.number(),
  expected: z.record(z.string(), z.unknown()),
});

/** Priors over outcomes, weighted and not; the golden interval is that of Student, of outcomes without a known range. */
export const priors: Topic = {
  name: 'priors',
  compute(golden: GoldenCase): readonly Part[] {
    const { outcomes, weights, kappa, expected } = parse(priorsCase, golden, golden.name);
    const records = outcomes.map((outcome) => ({ outcome }));
    const { interval, ...figures } = computePriors(records, weights, { kappa, range: 'none' });
    const got: Readonly<Record<string, unknown>> = { ...figures, interval95: interval };
    return Object.entries(expected).map(([at, value]) => ({ at, expected: value, got: got[at], tolerance: HOST }));
  },
};
