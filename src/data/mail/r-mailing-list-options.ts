import { z } from 'zod';

/** The licence of the archive that the description names. */
export const R_MAILING_LIST_LICENCE = 'MIT (r-mailing-lists/data)';

const options = z.strictObject({
  name: z.literal('r-mailing-list'),
  /** A Parquet file of the archive, or a folder of such files. */
  path: z.string().min(1),
  split: z.enum(['time', 'test']).default('time'),
});
export type RMailingListOptions = z.output<typeof options>;

export const rMailingList = {
  options,
  description: 'a mailing list of the R project: a reply must find the mail that it answers',
  licence: R_MAILING_LIST_LICENCE,
  source: 'a Parquet file of r-mailing-lists/data, such as data/messages/r-help-1995-1999.parquet',
};
