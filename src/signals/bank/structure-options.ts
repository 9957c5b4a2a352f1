import { unifiedAttentionOptions } from '../../attention/options.ts';
import {
  type AttentionOptions,
  TRAJECTORY_DEFAULTS,
  type TrajectoryOptions,
} from '../../retrieval/retriever-options.ts';
import type { STRUCTURE_SIGNALS } from './structure-names.ts';

type Name<Prefix extends string> = Extract<(typeof STRUCTURE_SIGNALS)[number], `${Prefix}${string}`>;
export type TrajectoryName = Name<'trajectory'>;
export type AttentionName = Exclude<(typeof STRUCTURE_SIGNALS)[number], TrajectoryName>;

/** The trajectory scores of a bank, by name. */
export const TRAJECTORIES: Readonly<Record<TrajectoryName, TrajectoryOptions>> = {
  'trajectory-3': { ...TRAJECTORY_DEFAULTS, dimensions: 3 },
  'trajectory-5': { ...TRAJECTORY_DEFAULTS, dimensions: 5 },
  'trajectory-7': { ...TRAJECTORY_DEFAULTS, dimensions: 7 },
};

function attention(mechanism: AttentionOptions['mechanism'], combine: AttentionOptions['combine']): AttentionOptions {
  return { ...unifiedAttentionOptions.parse({ mode: 'directed', combine }), mechanism, weight: 1 };
}

/** The attention scores of a bank, by name. */
export const ATTENTIONS: Readonly<Record<AttentionName, AttentionOptions>> = {
  rcp: attention('rcp', 'multiplicative'),
  ircp: attention('ircp', 'multiplicative'),
  tpo: attention('tpo', 'multiplicative'),
  'rcp-additive': attention('rcp', 'additive'),
};
