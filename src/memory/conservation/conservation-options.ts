import { z } from 'zod';
import { CONSERVATION_LAWS } from '../../ops/conservation/conservation-laws.ts';

/** The salience of records, and the treatment of a change that breaks a law of conservation. */
export const conservationOptions = z.strictObject({
  /** `off`: nothing is measured; `warn`: listeners are called; `refuse`: the change is an error too. */
  mode: z.enum(['off', 'warn', 'refuse']).default('off'),
  /** The largest relative change of magnitude that one change may make. */
  magnitudeThreshold: z.number().min(0).default(CONSERVATION_LAWS.magnitudeThreshold),
  /** The age at which a record has half its salience; null: salience does not fade. */
  halfLifeHours: z.number().positive().nullable().default(null),
});
/** The options of the laws of conservation, with every default written out. */
export type ConservationOptions = z.output<typeof conservationOptions>;
