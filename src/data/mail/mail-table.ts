import { z } from 'zod';
import { openParquet } from '../../core/decoding/decoder.ts';
import { RagPlusPlusError, StorageError, ValidationError } from '../../core/errors/errors.ts';
import { parse } from '../../core/validation/validation.ts';
import { type MailMessage, normaliseBody, parseMessageIds } from './mail-message.ts';
import type { SourceMail } from './read-mails.ts';

/** A row of the archive; a null is a missing value. */
const rowSchema = z.object({
  message_id: z.string(),
  in_reply_to: z.string().nullish(),
  date: z.date().nullish(),
  from_name: z.string().nullish(),
  from_email_hash: z.string().nullish(),
  list: z.string().nullish(),
  body: z.string().nullish(),
});
const COLUMNS = Object.keys(rowSchema.shape);

/** The end of an address as Mailman's archives write it, `ana at x.example`. The host of a page is not replaced. */
const OBSCURED = / at (?<=[\w.+-] at )(?!(?:www|ftp)\.)([\w-]+(?:\.[\w-]+)*\.[a-z]{2,})\b/gi;

/** The text with its addresses as sent, so that quotes, attributions and pseudonyms are found as in other mails. */
export function restoreAddresses(text: string): string {
  return text.replace(OBSCURED, '@$1');
}

function parseRow(row: unknown): MailMessage {
  const { message_id, in_reply_to, date, from_name, from_email_hash, list, body } = parse(
    rowSchema,
    row,
    'a row of the Parquet file',
  );
  return {
    id: message_id.trim(),
    inReplyTo: parseMessageIds(in_reply_to ?? ''),
    references: [],
    time: date?.getTime() ?? null,
    timeFromReceived: false,
    authorName: from_name?.trim() ?? '',
    authorAddress: from_email_hash ?? '',
    list: list ?? null,
    body: restoreAddresses(normaliseBody(body ?? '')),
  };
}

/**
 * The mails of a Parquet file with a row for each, as the archive r-mailing-lists has them.
 *
 * @throws ValidationError for a missing column; StorageError for a file that cannot be read or decoded.
 */
export async function readMailTable(path: string): Promise<SourceMail[]> {
  try {
    const file = await openParquet(path, { columns: COLUMNS });
    try {
      const missing = COLUMNS.filter((column) => !file.columns.includes(column));
      if (missing.length > 0)
        throw new ValidationError(
          `Parquet file of mails has no column ${missing.join(', ')}: ${path}; name a file of data/messages of the archive`,
          { path, missing },
        );
      const mails: SourceMail[] = [];
      for await (const rows of file.readBatches())
        for (const row of rows) mails.push({ bulk: false, parse: async () => parseRow(row) });
      return mails;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof RagPlusPlusError) throw error;
    throw new StorageError('read', path, { cause: error, remedy: 'name a Parquet file of the archive' });
  }
}
