import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import {
  averageTokens,
  computeTokenMaxima,
  standardiseMaxima,
  type TokenRows,
  takeNearest,
} from '../../ops/late/late-interaction.ts';
import { type GoldenCase, type Part, TENSOR, type Topic } from './topic.ts';

const scores = z.array(z.number().nullable());
const lateCase = z.looseObject({
  /** [T, D] */
  query: z.array(z.array(z.number())),
  /** [N] the token vectors of each turn, [S, D]. */
  turns: z.array(z.array(z.array(z.number()))),
  /** The number of leading turns that are visible. */
  cutoff: z.number(),
  /** [T] */
  weights: z.array(z.number()),
  expected: z.strictObject({ maxsim: scores, weighted: scores, standardised: scores, maxsimNear: scores }),
});

function joinTokens(turns: readonly (readonly (readonly number[])[])[], dimension: number): TokenRows {
  const starts = Int32Array.of(0, ...turns.map(({ length }) => length));
  for (let turn = 1; turn < starts.length; turn++) starts[turn]! += starts[turn - 1] as number;
  return { vectors: Float32Array.from(turns.flat(2)), starts, dimension };
}

export const lateInteraction: Topic = {
  name: 'late-interaction',
  async compute(golden: GoldenCase): Promise<readonly Part[]> {
    const { query, turns, cutoff, weights, expected } = parse(lateCase, golden, golden.name);
    const visible = joinTokens(turns.slice(0, cutoff), (query[0] as readonly number[]).length);
    const maxima = await computeTokenMaxima(visible, Float32Array.from(query.flat()));
    const maxsim = averageTokens(maxima, query.length);
    const got = {
      maxsim,
      weighted: averageTokens(maxima, query.length, weights),
      standardised: averageTokens(standardiseMaxima(maxima, query.length), query.length),
      maxsimNear: takeNearest(maxsim, (turn) => [turn - 1, turn + 1]),
    };
    return Object.entries(got).map(([at, values]) => ({
      at,
      expected: expected[at as keyof typeof got],
      got: Array.from(values, (value) => (Number.isNaN(value) ? null : value)),
      tolerance: TENSOR,
    }));
  },
};
