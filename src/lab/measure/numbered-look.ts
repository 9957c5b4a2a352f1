import { z } from 'zod';

/** The place of a look at a test split among all that are known. */
export const numberedLook = z.object({
  dataset: z.string(),
  /** Among the looks at the split: 1 for the first. */
  number: z.int(),
  /** Among the looks at the same queries of the same data. */
  numberAtQueries: z.int(),
  /** The number of measured test queries, also those without a relevant turn. */
  queries: z.int(),
});
export type NumberedLook = z.output<typeof numberedLook>;

/** The sentence of tables and reports. */
export function formatLook({ dataset, number, numberAtQueries, queries }: NumberedLook): string {
  const among = number === numberAtQueries ? '' : `, look ${numberAtQueries} at these queries`;
  return `Look ${number} at the test split of ${dataset} (${queries} test queries${among}).`;
}
