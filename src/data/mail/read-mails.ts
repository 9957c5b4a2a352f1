import { letEventsIn, type StartProgress } from '../../core/terminal/progress.ts';
import type { Counts } from '../prepared/prepared.ts';
import { type MailMessage, parseMail } from './mail-message.ts';

/** A mail as its source holds it. */
export interface SourceMail {
  /** Wanted bulk mail: newsletters, announcements, confirmations. */
  readonly bulk: boolean;
  /** Rejects for a mail that cannot be read, which is counted and skipped. */
  readonly parse: () => Promise<MailMessage>;
}

/** A mail of which the source holds the bytes. */
export interface RawMail extends SourceMail {
  /** Its bytes, as RFC 5322 has them, with or without the mbox `From ` line. */
  readonly read: () => Uint8Array;
}

export function createRawMail(read: () => Uint8Array, bulk = false): RawMail {
  return { bulk, read, parse: () => parseMail(read()) };
}

/** A mail with a legible date. */
export interface DatedMail extends MailMessage {
  readonly time: number;
  readonly bulk: boolean;
}

const FAULTS = ['skipped: unreadable', 'skipped: no id', 'skipped: id seen', 'skipped: no date', 'dropped: RSS items'];
const UPDATE_EVERY = 50;

/** Reads mails by id, without RSS items; single mails that can't be used are counted and skipped. */
export async function readMails(
  raw: readonly SourceMail[],
  counts: Counts,
  progress: StartProgress,
): Promise<ReadonlyMap<string, DatedMail>> {
  const shown = progress('read mails', raw.length);
  counts.add('mails read', raw.length);
  for (const fault of FAULTS) counts.add(fault, 0);
  const mails = new Map<string, DatedMail>();
  for (const [i, { bulk, parse }] of raw.entries()) {
    const mail = await parse().catch(() => null);
    const kept = admitMail(mail, mails);
    if (typeof kept === 'string') counts.add(kept);
    else {
      mails.set(kept.id, { ...kept, bulk });
      if (kept.timeFromReceived) counts.add('dates taken from Received');
    }
    if (i % UPDATE_EVERY > 0) continue;
    shown.update(i);
    await letEventsIn();
  }
  shown.finish(`${mails.size} of ${raw.length} mails kept`);
  return mails;
}

/** The mail itself, or under which name it is counted out. */
function admitMail(
  mail: MailMessage | null,
  seen: ReadonlyMap<string, DatedMail>,
): (MailMessage & { time: number }) | (typeof FAULTS)[number] {
  if (mail === null) return 'skipped: unreadable';
  if (mail.id === '') return 'skipped: no id';
  if (seen.has(mail.id)) return 'skipped: id seen';
  if (mail.time === null) return 'skipped: no date';
  if (mail.authorAddress.startsWith('rssfeeds@')) return 'dropped: RSS items';
  return { ...mail, time: mail.time };
}
