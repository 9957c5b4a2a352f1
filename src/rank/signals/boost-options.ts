import { z } from 'zod';

const boost = z
  .strictObject({
    attribute: z.string().min(1),
    /** Times the value of an attribute that is a number. */
    factor: z.number().exactOptional(),
    /** For each value of an attribute that is a text or a list of texts. */
    factors: z.record(z.string(), z.number()).exactOptional(),
  })
  .refine(({ factor, factors }) => (factor === undefined) !== (factors === undefined), {
    error: 'either factor, for an attribute that is a number, or factors, for one that is a text',
  });

/** Factors that relevance is multiplied by, from attributes of a turn. */
export const boostOptions = z.array(boost).min(1);

/** The boosts of an arm. */
export type BoostOptions = z.output<typeof boostOptions>;
