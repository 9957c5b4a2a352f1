import { attentionSignal } from '../../signals/attention.ts';
import type { AttentionOptions } from '../../signals/attention-options.ts';
import { trajectorySignal } from '../../signals/trajectory.ts';
import type { TrajectoryOptions } from '../../signals/trajectory-options.ts';
import { blendTrajectory } from '../../signals/trajectory-score.ts';
import { blendScores, divideScoresByRowMaximum } from '../blend.ts';
import { defineScoreStep } from './step.ts';

/** `(1 - weight) scores / max(scores) + weight exp(-D / sigma)` of the distance D in trajectory coordinates. */
export const blendWithTrajectory = defineScoreStep<TrajectoryOptions>({
  name: 'blend.trajectory',
  summary: 'blends scores with exp(-D / sigma) of the distance D in trajectory coordinates',
  component: () => 'trajectory',
  signal: trajectorySignal,
  change: ({ weight }, scores, column) => blendTrajectory(divideScoresByRowMaximum(scores), column, weight),
  explain: ({ weight }, parts, component) => parts.blend(component, weight, false),
  needs: (options, _, find) => {
    const needs = find(trajectorySignal(options));
    if (needs === null) return [];
    return needs === 'threads'
      ? [{ needs, part: 'trajectory coordinates', remedy: 'leave trajectory out of blend' }]
      : [{ needs, part: 'trajectory coordinate temporal', remedy: WITHOUT_TEMPORAL }];
  },
  coordinates: (options) => options,
});

const WITHOUT_TEMPORAL = 'set weights.temporal of trajectory: 0';

/** The mechanism of attention, its share of the blend, and the coordinates that TPO compares; null for those of the paper. */
export interface AttentionBlend {
  readonly attention: AttentionOptions;
  readonly coordinates: TrajectoryOptions | null;
}

/** `(1 - weight) scores / max(scores) + weight attention / max(attention)`. */
export const blendWithAttention = defineScoreStep<AttentionBlend>({
  name: 'blend.attention',
  summary: 'blends scores with ring attention between the query and its candidates',
  component: ({ attention: { mechanism } }) => mechanism,
  signal: ({ attention, coordinates }) => attentionSignal({ attention, trajectory: coordinates }),
  change: ({ attention: { weight } }, scores, column) => blendScores(scores, column, weight),
  explain: ({ attention: { weight } }, parts, component) => parts.blend(component, weight, true),
  needs: ({ attention, coordinates }, _, find) => {
    const needs = find(attentionSignal({ attention, trajectory: coordinates }));
    const part = `attention ${attention.mechanism}`;
    if (needs === null) return [];
    return needs === 'threads'
      ? [{ needs, part, remedy: `leave ${attention.mechanism} out of blend` }]
      : [{ needs, part: `${part} by trajectory coordinate temporal`, remedy: WITHOUT_TEMPORAL }];
  },
});
