import { z } from 'zod';
import { freezeDeeply } from '../../core/values/once.ts';

const coordinateWeight = z.number().nonnegative().optional();

/** How far apart a query and a candidate are in trajectory coordinates. */
export const trajectoryOptions = z.strictObject({
  /** Share of the trajectory score in the blend. */
  weight: z.number().min(0).max(1).default(0.3),
  dimensions: z.union([z.literal(3), z.literal(5), z.literal(7)]).default(5),
  complexityScale: z.enum(['log', 'raw']).default('log'),
  sigma: z.number().positive().default(1),
  /** By coordinate; the paper's where none is given. */
  weights: z
    .strictObject({
      depth: coordinateWeight,
      siblingOrder: coordinateWeight,
      homogeneity: coordinateWeight,
      temporal: coordinateWeight,
      complexity: coordinateWeight,
      branchFactor: coordinateWeight,
      childrenCount: coordinateWeight,
    })
    .prefault({}),
});
/**
 * Checked options of the trajectory score `exp(-distance / sigma)`: the coordinates (3, 5 or 7), their weights, the scale of complexity, and the share
 * of the score in the blend, in [0, 1].
 */
export type TrajectoryOptions = z.output<typeof trajectoryOptions>;
/** The defaults of the trajectory score: 5 coordinates with the weights of the paper, logarithmic complexity, sigma 1, and a share of 0.3 in the blend. */
export const TRAJECTORY_DEFAULTS: TrajectoryOptions = freezeDeeply(trajectoryOptions.parse({}));
