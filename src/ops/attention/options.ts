import { z } from 'zod';
import { sumsToOne } from '../../core/validation/validation.ts';
import { freezeDeeply } from '../../core/values/once.ts';

/**
 * The choices of ring attention (section 4.2 of diomande2026ragpp, and choices that it does not specify).
 *
 * topology `ring`: the shorter way round, `line`: |p_i - p_j|. direction `causal` keeps keys at or before the query's
 * position, `anticausal` at or after it. combine `multiplicative`: logit = exp(-decay d) (1 + cos) / 2 / temperature,
 * which tends to 0 for far keys and so never forgets them; `additive`: logit = (1 + cos) / 2 / temperature - decay d,
 * which does. self `exclude` leaves out the key at the query's own position.
 */
export const ringAttentionOptions = z.strictObject({
  topology: z.enum(['ring', 'line']).default('ring'),
  direction: z.enum(['none', 'causal', 'anticausal']).default('none'),
  combine: z.enum(['multiplicative', 'additive']).default('multiplicative'),
  self: z.enum(['include', 'exclude']).default('include'),
  decay: z.number().nonnegative().default(0.5),
  temperature: z.number().positive().default(0.1),
});
/**
 * Topology, direction, combination of similarity and distance, decay with distance, and temperature of ring attention.
 */
export type RingAttentionOptions = z.infer<typeof ringAttentionOptions>;

/** The paper's ring without a direction: similarity times closeness, decay 0.5 a step, temperature 0.1. */
export const RING_ATTENTION_DEFAULTS: RingAttentionOptions = freezeDeeply(ringAttentionOptions.parse({}));

/** The tolerance of the sum of {@link attentionMix} against 1. */
const MIX_TOLERANCE = 0.01;

/** The shares of the three mechanisms in unified attention. */
export const attentionMix = z
  .strictObject({
    rcp: z.number().nonnegative().default(0.4),
    ircp: z.number().nonnegative().default(0.4),
    tpo: z.number().nonnegative().default(0.2),
  })
  .refine(({ rcp, ircp, tpo }) => sumsToOne([rcp, ircp, tpo], MIX_TOLERANCE), {
    error: ({ input }) => `shares that sum to 1 within ${MIX_TOLERANCE}, with their defaults ${JSON.stringify(input)}`,
  });
/** The shares of RCP, IRCP and TPO in unified attention. */
export type AttentionMix = z.infer<typeof attentionMix>;

/**
 * `literal`: RCP and IRCP are the same, since reversed positions do not change any ring distance; `directed`: RCP is
 * causal, IRCP anticausal.
 */
export const attentionMode = z.enum(['literal', 'directed']);

/** The schema of {@link UnifiedAttentionOptions}. */
export const unifiedAttentionOptions = ringAttentionOptions.omit({ direction: true }).extend({
  mode: attentionMode.default('directed'),
  mix: attentionMix.prefault({}),
});
/** The options of ring attention and the shares of RCP, IRCP and TPO, with every default written out. */
export type UnifiedAttentionOptions = z.infer<typeof unifiedAttentionOptions>;

/** The schema of {@link PropagationOptions}; by default 30 % of an embedding is attention output. */
export const propagationOptions = ringAttentionOptions.extend({
  /** The share of the attention output in a propagated embedding. */
  beta: z.number().min(0).max(1).default(0.3),
});
/**
 * Ring attention of turns over their conversation, and the share `beta` of its output in a propagated embedding, in [0,
 * 1].
 */
export type PropagationOptions = z.infer<typeof propagationOptions>;

/**
 * Named settings of propagation. `published` has the paper's: a turn is its own loudest key (logit 10 against about 4
 * for its neighbours), so it comes out as it went in. `framework` excludes the turn itself and gives far turns less
 * weight.
 */
export const PROPAGATION_PRESETS = freezeDeeply({
  published: propagationOptions.parse({
    combine: 'multiplicative',
    self: 'include',
    temperature: 0.1,
    decay: 0.5,
    beta: 0.3,
  }),
  framework: propagationOptions.parse({ combine: 'additive', self: 'exclude', temperature: 1, decay: 1, beta: 0.5 }),
} as const satisfies Record<string, PropagationOptions>);
