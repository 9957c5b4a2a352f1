import { defineSignal } from './signal.ts';
import type { TrajectoryOptions } from './signal-options.ts';
import { pairFrames } from './trajectory-score.ts';
import { listDistanceReads } from './worlds/world-parts.ts';

/** exp(-D / sigma). */
export const trajectorySignal = defineSignal({
  name: 'trajectory',
  summary: 'exp(-D / sigma) of the distance D in trajectory coordinates',
  module: import.meta.url,
  reads: listDistanceReads,
  key: ({ weight: _, ...key }: TrajectoryOptions) => key,
  inputs: (options, setting) => ({ frames: pairFrames(options, setting) }),
  compute: async ({ world, pool, inputs }, options) =>
    (await import('./trajectory-columns.ts')).computeTrajectory(world, pool, inputs.frames, options),
});
