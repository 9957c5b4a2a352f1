import { z } from 'zod';
import { assertColumns, type FusionDefinition, rankPresent, type ScoreColumns } from './score-columns.ts';

const inverseSquareOptions = z.strictObject({ method: z.literal('isr') });
const logInverseSquareOptions = z.strictObject({ method: z.literal('log_isr') });
const lognInverseSquareOptions = z.strictObject({
  method: z.literal('logn_isr'),
  /** Added to the number of sources under the logarithm, so that a candidate of one source has a score above 0. */
  sigma: z.number().min(0).max(1).default(0.01),
});

/** factor(number of sources that hold the candidate) times the sum of 1 / rank². Source: mourao2015isr. O(S C log C). */
function fuseInverseSquares(columns: ScoreColumns, factor: (sources: number) => number): Float64Array {
  const fused = new Float64Array(assertColumns(columns));
  const sources = new Float64Array(fused.length);
  for (const column of Object.values(columns))
    for (const [above, c] of rankPresent(column).entries()) {
      fused[c] = (fused[c] as number) + 1 / (above + 1) ** 2;
      sources[c] = (sources[c] as number) + 1;
    }
  return fused.map((sum, c) => (sum === 0 ? 0 : sum * factor(sources[c] as number)));
}

export const inverseSquareRank: FusionDefinition<typeof inverseSquareOptions> = {
  options: inverseSquareOptions,
  description: '1 / rank², summed over the sources, times the number of sources that returned the candidate',
  fuse: (columns) => fuseInverseSquares(columns, (sources) => sources),
};

export const logInverseSquareRank: FusionDefinition<typeof logInverseSquareOptions> = {
  options: logInverseSquareOptions,
  description:
    '1 / rank², summed over the sources, times the logarithm of their number: 0 for a candidate of one source',
  fuse: (columns) => fuseInverseSquares(columns, Math.log),
};

export const lognInverseSquareRank: FusionDefinition<typeof lognInverseSquareOptions> = {
  options: lognInverseSquareOptions,
  description: '1 / rank², summed over the sources, times ln(their number + sigma)',
  fuse: (columns, { sigma }) => fuseInverseSquares(columns, (sources) => Math.log(sources + sigma)),
};
