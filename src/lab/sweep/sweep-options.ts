import { z } from 'zod';
import { CONFIG_LIMITS } from '../composition/config-limits.ts';

const common = {
  /** The arm that every arm of the sweep extends. */
  arm: z.string(),
  /** The varied options: see {@link readFactor}. */
  factors: z
    .record(z.string(), z.unknown())
    .refine((factors) => Object.keys(factors).length > 0, 'at least one factor'),
  /** A sweep of more arms is an error. */
  limit: z.int().min(1).max(CONFIG_LIMITS.arms).default(1000),
};

/** A sweep as written. */
export const sweepOptions = z.discriminatedUnion('method', [
  z.strictObject({ method: z.literal('grid'), ...common }),
  z.strictObject({ method: z.literal('factorial'), ...common }),
  z.strictObject({ method: z.literal('one-factor'), ...common }),
  z.strictObject({
    method: z.literal('random'),
    ...common,
    samples: z.int().min(1),
    /** By default the experiment's. */
    seed: z.int().optional(),
  }),
]);
export type SweepOptions = z.output<typeof sweepOptions>;

/** The design of a sweep whose arms are resolved. */
export const sweepDesign = z.strictObject({
  method: z.enum(['grid', 'factorial', 'one-factor', 'random']),
  arm: z.string(),
  factors: z.array(z.strictObject({ name: z.string(), levels: z.array(z.string()) })),
});
/** The resolved design of a sweep: its method, the arm that all arms of the sweep extend, and the levels of each factor. */
export type SweepDesign = z.output<typeof sweepDesign>;
