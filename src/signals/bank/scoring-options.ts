import { z } from 'zod';
import { signalBankOptions } from './options.ts';

/** Where learned weights come from, for whoever asks on what they were trained. */
const weightsOrigin = z.strictObject({
  file: z.string(),
  dataHash: z.string(),
  trainingClusters: z.array(z.string()),
  /** Content hashes of the training conversations; absent where the weight file has none. */
  trainingContents: z.array(z.string()).optional(),
  commit: z.string(),
});

/** A linear mix of signals in the place of what an arm would put together by hand. */
export const scoringOptions = z.strictObject({
  /** The bank that the signals are of. */
  signals: signalBankOptions.prefault({}),
  /** Signal -> what one unit of it is worth. */
  weights: z.record(z.string(), z.number()),
  origin: weightsOrigin.nullable().default(null),
});
export type ScoringOptions = z.output<typeof scoringOptions>;
