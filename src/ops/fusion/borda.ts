import { z } from 'zod';
import {
  assertColumns,
  type FusionDefinition,
  markHeld,
  rankPresent,
  readWeights,
  type ScoreColumns,
  sourceWeights,
} from './score-columns.ts';

const bordaOptions = z.strictObject({ method: z.literal('bordafuse') });
const weightedBordaOptions = z.strictObject({ method: z.literal('w_bordafuse'), weights: sourceWeights });

/**
 * With C candidates of all lists, a list gives C points to its first, C - 1 to its second; those it lacks share the points that are left. Source:
 * aslam2001metasearch. O(S C log C).
 */
function countBordaPoints(columns: ScoreColumns, weights: readonly number[]): Float64Array {
  const fused = new Float64Array(assertColumns(columns));
  const held = markHeld(columns);
  const candidates = held.reduce((total, one) => total + one, 0);
  for (const [source, column] of Object.values(columns).entries()) {
    const ranked = rankPresent(column);
    const points = Float64Array.from(held, (one) => (one * (candidates - ranked.length + 1)) / 2);
    for (const [above, c] of ranked.entries()) points[c] = candidates - above;
    for (const [c, own] of points.entries()) fused[c] = (fused[c] as number) + (weights[source] as number) * own;
  }
  return fused;
}

export const borda: FusionDefinition<typeof bordaOptions> = {
  options: bordaOptions,
  description:
    'Borda count: C − rank + 1 points of C candidates, summed over the sources; absent ones share the points left',
  fuse: (columns) => countBordaPoints(columns, readWeights({}, columns)),
};

export const weightedBorda: FusionDefinition<typeof weightedBordaOptions> = {
  options: weightedBordaOptions,
  description: 'weight × Borda points, summed over the sources',
  fuse: (columns, { weights }) => countBordaPoints(columns, readWeights(weights, columns)),
};
