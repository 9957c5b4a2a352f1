import { z } from 'zod';

/** The licence of the IRC logs and their reply links. */
export const IRC_LICENCE = 'CC BY 4.0';

export const irc = {
  options: z.strictObject({
    name: z.literal('irc'),
    /** The folder with train, and dev or test. */
    path: z.string().min(1),
  }),
  description: 'a busy IRC channel: a message must find the messages that it answers',
  licence: IRC_LICENCE,
  source: 'https://github.com/jkkummerfeld/irc-disentanglement, folder data',
};
