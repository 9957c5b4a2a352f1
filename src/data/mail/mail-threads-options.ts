import { z } from 'zod';

const options = z.strictObject({
  name: z.literal('mail-threads'),
  /** A mailbox file (mbox), or a folder of mailboxes and single mails; null for the mails of 2002 that come with the project, by time. */
  path: z.string().min(1).nullable().default(null),
  split: z.enum(['time', 'test']).default('time'),
});
export type MailOptions = z.output<typeof options>;

export const mailThreads = {
  options,
  description: 'your own mail, a mailbox or a folder: a reply must find the mail that it answers',
  licence: 'yours',
  source: 'an mbox file or a folder of mails, as docs/datasets/mail-threads.md says',
};
