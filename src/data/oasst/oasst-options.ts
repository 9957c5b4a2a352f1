import { z } from 'zod';

/** The licence of OpenAssistant's trees. */
export const OASST_LICENCE = 'Apache-2.0';

export const oasst = {
  options: z.strictObject({
    name: z.literal('oasst'),
    /** A file of message trees, .jsonl or .jsonl.gz. */
    path: z.string().min(1),
  }),
  description: 'trees of messages to an assistant: a message must find the one that it answers',
  licence: OASST_LICENCE,
  source: 'https://huggingface.co/datasets/OpenAssistant/oasst1, a file of trees',
};
