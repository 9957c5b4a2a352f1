import { once } from '../../core/values/once.ts';
import { defineSignal } from './signal.ts';
import type { TrajectoryOptions } from './signal-options.ts';
import { pairFrames } from './trajectory-score.ts';
import { listDistanceReads } from './worlds/world-parts.ts';

/** Kept, since a loader such as that of tsx asks another thread for each import. */
const loadColumns = once(() => import('./trajectory-columns.ts'));

/** exp(-D / sigma). */
export const trajectorySignal = defineSignal({
  name: 'trajectory',
  summary: 'exp(-D / sigma) of the distance D in trajectory coordinates',
  module: import.meta.url,
  reads: listDistanceReads,
  key: ({ weight: _, ...key }: TrajectoryOptions) => key,
  inputs: (options, setting) => ({ frames: pairFrames(options, setting) }),
  compute: async ({ pool, inputs }, options) => (await loadColumns()).computeTrajectory(pool, inputs.frames, options),
});
