import { z } from 'zod';

/** Where learned weights come from, for whoever asks on what they were trained. */
export const weightsOrigin = z.strictObject({
  file: z.string(),
  dataHash: z.string(),
  trainingClusters: z.array(z.string()),
  /** Content hashes of the training conversations; absent where the weight file has none. */
  trainingContents: z.array(z.string()).optional(),
  commit: z.string(),
});
export type WeightsOrigin = z.output<typeof weightsOrigin>;
