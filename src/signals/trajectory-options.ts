import { z } from 'zod';
import { freezeDeeply } from '../core/frozen.ts';

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
/** The share of trajectory distance in a score, its scale, and the coordinates that it reads. */
export type TrajectoryOptions = z.output<typeof trajectoryOptions>;
/** {@link TrajectoryOptions} where a config says nothing. */
export const TRAJECTORY_DEFAULTS: TrajectoryOptions = freezeDeeply(trajectoryOptions.parse({}));
