import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import { fuseLists, parseFusion } from '../../ops/fusion/registry.ts';
import { type GoldenCase, HOST, type Part, type Topic } from './topic.ts';

const numbers = z.record(z.string(), z.number());

const combinationCase = z.looseObject({
  /** By source: score by candidate. */
  lists: z.record(z.string(), numbers),
  weights: numbers,
  theoreticalMinimum: numbers,
});

/** The convex combination of lists that weights and minima name. */
export const combination: Topic = {
  name: 'combination',
  compute(golden: GoldenCase): readonly Part[] {
    const { expected, lists, weights, theoreticalMinimum } = parse(combinationCase, golden, golden.name);
    const named = Object.entries(lists).map(
      ([source, scores]) => [source, Object.entries(scores).map(([id, score]) => ({ id, score }))] as const,
    );
    const fused = fuseLists(
      Object.fromEntries(named),
      parseFusion({ method: 'convex', weights, theoreticalMinimum }, golden.name),
    );
    const got = Object.fromEntries(fused.map(({ id, score }) => [id, score]));
    return [{ at: 'scores', expected, got, tolerance: HOST }];
  },
};
