import { z } from 'zod';
import { chatServiceKeys } from '../../core/service/chat-options.ts';

/** The options of a judge behind a service with the interface of OpenAI. The model is also the name of the judge. */
export const endpointJudgeOptions = z.strictObject({
  ...chatServiceKeys,
  /** Documents of one query in a request. */
  batchSize: z.int().min(1).default(8),
});

/** A service that answers `POST /chat/completions`, with every default written out. */
export type EndpointJudgeOptions = z.output<typeof endpointJudgeOptions>;
