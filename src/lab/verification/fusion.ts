import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import { fuseLists, fusionOptions } from '../../ops/fusion/registry.ts';
import { type GoldenCase, HOST, type Part, type Topic } from './topic.ts';

const fusionCase = z.looseObject({
  method: z.string(),
  /** Candidate and score, a list a source. */
  lists: z.array(z.array(z.tuple([z.string(), z.number()]))),
});

/** The name under which the literature knows the convex combination that starts from theoretical minima. */
const OUR_NAMES: Readonly<Record<string, string>> = { tm2c2: 'convex' };

export const fusion: Topic = {
  name: 'fusion',
  compute(golden: GoldenCase): readonly Part[] {
    const { name, expected, lists, method, ...rest } = parse(fusionCase, golden, golden.name);
    const weights = Array.isArray(rest.weights) ? { weights: Object.fromEntries(rest.weights.entries()) } : {};
    const written = { ...rest, ...weights, method: OUR_NAMES[method] ?? method };
    const options = parse(fusionOptions, written, golden.name);
    const scored = lists.map((list) => list.map(([id, score]) => ({ id, score })));
    const fused = fuseLists(Object.fromEntries(scored.entries()), options); // by number
    const got = Object.fromEntries(fused.map(({ id, score }) => [id, score]));
    return [{ at: 'scores', expected, got, tolerance: HOST }];
  },
};
