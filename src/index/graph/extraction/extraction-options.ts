import { z } from 'zod';
import { chatServiceKeys } from '../../../core/service/chat-options.ts';

/** The options of a model behind a service with the interface of OpenAI that extracts concepts. */
export const extractionOptions = z.strictObject({
  ...chatServiceKeys,
  /** Turns in a request. */
  batchSize: z.int().min(1).default(8),
});

/** A service that answers `POST /chat/completions`, with every default written out. */
export type ExtractionOptions = z.output<typeof extractionOptions>;
