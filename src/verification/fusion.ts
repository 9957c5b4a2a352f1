import { z } from 'zod';
import { parse } from '../core/validation.ts';
import { fuseLists, fusionOptions } from '../fusion/registry.ts';
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
    const options = parse(fusionOptions, { ...rest, method: OUR_NAMES[method] ?? method }, golden.name);
    const fused = fuseLists(
      lists.map((list) => list.map(([id, score]) => ({ id, score }))),
      options,
    );
    const got = Object.fromEntries(fused.map(({ id, score }) => [id, score]));
    return [{ at: 'scores', expected, got, tolerance: HOST }];
  },
};
