import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import { type FusionOptions, fuseLists, parseFusion } from '../../ops/fusion/registry.ts';
import { type GoldenCase, HOST, type Part, type Topic } from './topic.ts';

/** Of each query, the score of each candidate. */
const table = z.record(z.string(), z.record(z.string(), z.number()));
type Table = z.output<typeof table>;

/** The case that holds the runs which every other case fuses. */
const inputsCase = z.looseObject({ runs: z.array(table).min(1) });

const fusedCase = z.looseObject({
  method: z.string(),
  normalisation: z.string().nullable(),
  params: z.looseObject({ weights: z.array(z.number()).optional() }),
  /** The name of the runs in the case `inputs`. */
  lists: z.literal('runs'),
  expected: table,
});

function parseCaseFusion({ method, normalisation, params }: z.output<typeof fusedCase>, name: string): FusionOptions {
  const { weights, ...rest } = params;
  const written = {
    ...rest,
    method,
    ...(normalisation === null ? {} : { normalisation }),
    ...(weights === undefined ? {} : { weights: Object.fromEntries(weights.entries()) }), // by number
  };
  return parseFusion(written, name);
}

function fuseTables(runs: readonly Table[], queries: readonly string[], options: FusionOptions): Table {
  const rows = queries.map((query) => {
    const lists = runs.map((run) => Object.entries(run[query] ?? {}).map(([id, score]) => ({ id, score })));
    const fused = fuseLists(Object.fromEntries(lists.entries()), options);
    return [query, Object.fromEntries(fused.map(({ id, score }) => [id, score]))] as const;
  });
  return Object.fromEntries(rows);
}

/** Every method and normalisation of ranx. A run fused with no other and not normalised stays as it is. */
export const rankFusion: Topic = {
  name: 'rank-fusion',
  compute(golden: GoldenCase, cases: readonly GoldenCase[]): readonly Part[] {
    const inputs = cases.find(({ name }) => name === 'inputs');
    const { runs } = parse(inputsCase, inputs, `case inputs, whose runs ${golden.name} fuses`);
    if (golden === inputs) {
      const alone = parseFusion({ method: 'sum', normalisation: 'none' }, golden.name);
      const got = runs.map((run) => fuseTables([run], Object.keys(run), alone));
      return [{ at: 'runs', expected: runs, got, tolerance: HOST }];
    }
    const fused = parse(fusedCase, golden, golden.name);
    const got = fuseTables(runs, Object.keys(fused.expected), parseCaseFusion(fused, golden.name));
    return [{ at: 'scores', expected: fused.expected, got, tolerance: HOST }];
  },
};
