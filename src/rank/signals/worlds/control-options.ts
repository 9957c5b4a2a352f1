import { z } from 'zod';
import { freezeDeeply } from '../../../core/values/frozen.ts';

/**
 * The null controls by name. Each destroys one part of the structure that an arm looks at and leaves the rest as it is: texts, times, relevance and decay always.
 * An arm that ranks as well under a control owes nothing to what the control destroyed. No control knows more than the arm: everything is drawn as of the query's
 * moment, except strategies, which are exchanged among all queries.
 */
export const CONTROL_KINDS = freezeDeeply([
  'permuted-order',
  'shuffled-coordinates',
  'random-parents',
  'rewired-graph',
  'random-graph',
  'shuffled-titles',
  'random-slices',
  'newest-slices',
  'shuffled-strategies',
] as const);
/** The name of a null control, one of {@link CONTROL_KINDS}. */
export type ControlKind = (typeof CONTROL_KINDS)[number];

/** The schema of a null control: which part of the structure it destroys, and the seed of its draws (by default that of the experiment). */
export const controlOptions = z.strictObject({
  kind: z.enum(CONTROL_KINDS),
  /** The experiment's where it is null. */
  seed: z.number().int().nullable().default(null),
});
/** A checked null control: its kind and its seed; a seed of null uses that of the experiment. */
export type ControlOptions = z.output<typeof controlOptions>;
