import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import { evaluate } from '../../eval/metrics/evaluate.ts';
import { type GoldenCase, HOST, type Part, type Topic } from './topic.ts';

const numbers = z.record(z.string(), z.number());

const depthCase = z.looseObject({
  /** Document ids, best first. */
  ranking: z.array(z.string()),
  grades: numbers,
  tokens: numbers,
  /** By metric, written as in configs; `evidence` and `hit` are other names of `recall` and `success`. */
  expected: numbers,
});

/** The highest grade of the scale in the cases, whatever a query holds. */
const HIGHEST_GRADE = 3;

/** Metrics at a rank and within a budget of tokens. */
export const depthMetrics: Topic = {
  name: 'depth-metrics',
  compute(golden: GoldenCase): readonly Part[] {
    const { ranking, grades, tokens, expected } = parse(depthCase, golden, golden.name);
    const metrics = Object.keys(expected);
    const run = new Map([['q', ranking.map((id, rank) => ({ id, score: -rank }))]]);
    const qrels = new Map([['q', new Map(Object.entries(grades))]]);
    const { values } = evaluate(run, qrels, metrics, {
      relevantGrade: 1,
      unanswerable: 'count',
      holeDepth: 10,
      highestGrade: HIGHEST_GRADE,
      countTokens: (id) => tokens[id] ?? Number.NaN,
    });
    const got = Object.fromEntries(metrics.map((metric) => [metric, values[metric]?.[0]]));
    return [{ at: 'values', expected, got, tolerance: HOST }];
  },
};
