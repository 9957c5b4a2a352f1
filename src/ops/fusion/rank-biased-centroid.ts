import { z } from 'zod';
import { assertColumns, type FusionDefinition, rankPresent } from './score-columns.ts';

const rankBiasedCentroidOptions = z.strictObject({
  method: z.literal('rbc'),
  /** Persistence: the larger, the more the later ranks count. */
  phi: z.number().gt(0).lt(1).default(0.8),
});

/** Source: bailey2017rbc. O(S C log C). */
export const rankBiasedCentroid: FusionDefinition<typeof rankBiasedCentroidOptions> = {
  options: rankBiasedCentroidOptions,
  description: 'rank-biased centroid: (1 − phi) phi^(rank − 1), summed over the sources',
  fuse(columns, { phi }) {
    const fused = new Float64Array(assertColumns(columns));
    for (const column of Object.values(columns))
      for (const [above, c] of rankPresent(column).entries())
        fused[c] = (fused[c] as number) + (1 - phi) * phi ** above;
    return fused;
  },
};
