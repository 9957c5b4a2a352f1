import { convert } from 'html-to-text';
import type { Email, Header } from 'postal-mime';
import PostalMime from 'postal-mime';

const WORD = '[^\\s<>@,;]+';
/**
 * An address. The expression looks backwards from the `@` for its first part: forwards, it would try every place of a
 * long word without an `@`.
 */
const ADDRESS = new RegExp(`@(?<=(${WORD})@)(${WORD})`);

/**
 * Headers that name a list outright, most telling first, and what of their value is its id: the groups of the
 * expression, joined.
 */
const NAMING: readonly (readonly [key: string, id: RegExp])[] = [
  ['list-id', /<([^<>\s]+)>\s*$/],
  ['x-beenthere', ADDRESS],
  ['mailing-list', new RegExp(`(?:list|contact)\\s+(${WORD})@(${WORD})`)],
  ['delivered-to', new RegExp(`mailing list\\s+(${WORD})@(${WORD})`)],
  ['x-mailing-list', ADDRESS],
  ['list-post', new RegExp(`@(?<=mailto:(${WORD})@)(${WORD})`)],
];

/** `owner-x`, `x-admin` and the like are how a list's own machinery signs. */
const OWNER = /^owner-([^\s@]+)@/i;
const MACHINERY = /@(?<=([^\s<>@"]+)-(?:admin|owner|bounces|request)@)/i;

/**
 * The id of the mailing list that a mail came over, in the form of List-Id (`ilug.linux.ie`); null for a mail of no
 * list. If no header names the list, the Sender of the list's machinery does.
 */
export function readMailingList(headers: readonly Header[]): string | null {
  for (const [key, id] of NAMING) {
    for (const header of headers) {
      const found = header.key === key ? id.exec(header.value) : null;
      if (found !== null)
        return found
          .slice(1)
          .join('@')
          .replace(/(?:-help)?@/, '.')
          .toLowerCase();
    }
  }
  const sender = headers.find((header) => header.key === 'sender')?.value ?? '';
  const machinery = OWNER.exec(sender) ?? MACHINERY.exec(sender);
  const domain = /@([\w.-]+)/.exec(sender)?.[1];
  return machinery === null || domain === undefined ? null : `${machinery[1]}.${domain}`.toLowerCase();
}

/**
 * The parts of a mail that the preparation needs. Ids and addresses are those of the source: they never leave the
 * preparation.
 */
export interface MailMessage {
  readonly id: string;
  /** Message ids in header order. */
  readonly inReplyTo: readonly string[];
  readonly references: readonly string[];
  /** Milliseconds since 1970, null where neither Date nor Received can be read. */
  readonly time: number | null;
  /** True where Received overruled Date. */
  readonly timeFromReceived: boolean;
  readonly authorName: string;
  /** In lower case. */
  readonly authorAddress: string;
  /** The mailing list's id, null for a mail of no list. */
  readonly list: string | null;
  /** Decoded text with its quotes, signatures and footers. */
  readonly body: string;
}

const DAY_MILLISECONDS = 86_400_000;
const TRUSTED_DRIFT = 3 * DAY_MILLISECONDS;

/**
 * Parses a raw mail (RFC 5322, with or without the mbox `From ` line), decodes it, and takes its plain text, or its
 * HTML as text where it has no other.
 *
 * @throws Error from the parser if the mail exceeds its limits.
 */
export async function parseMail(raw: Uint8Array): Promise<MailMessage> {
  const mail = await parseMime(withoutMboxLine(raw));
  const date = readMailTime(mail);
  const received = findReceivedTime(mail);
  const timeFromReceived = received !== null && (date === null || Math.abs(date - received) > TRUSTED_DRIFT);
  return {
    id: parseMessageIds(readMailHeader(mail, 'message-id')).at(-1) ?? readMailHeader(mail, 'message-id').trim(),
    inReplyTo: parseMessageIds(readMailHeader(mail, 'in-reply-to')),
    references: parseMessageIds(readMailHeader(mail, 'references')),
    time: timeFromReceived ? received : date,
    timeFromReceived,
    authorName: mail.from?.name.trim() ?? '',
    authorAddress: mail.from?.address?.trim().toLowerCase() ?? '',
    list: readMailingList(mail.headers),
    body: readMailBody(mail),
  };
}

/** The envelope line of a mailbox file is no header: its time would be read as a header's value. */
function withoutMboxLine(raw: Uint8Array): Uint8Array {
  const marker = 'From ';
  for (let i = 0; i < marker.length; i++) if (raw[i] !== marker.charCodeAt(i)) return raw;
  return raw.subarray(raw.indexOf(0x0a) + 1);
}

type MimeMail = Pick<Email, 'headers' | 'from' | 'text' | 'html'>;

const parseWhole = (raw: Uint8Array): Promise<MimeMail> => PostalMime.parse(raw, { forceRfc822Attachments: true });

/**
 * The parser makes a part of a Blob of each line of a body, which takes longer than all else that it does. So a body
 * that is text as it stands is decoded here, and the parser gets the headers alone.
 */
async function parseMime(raw: Uint8Array): Promise<MimeMail> {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const end = bytes.includes('\r\r') ? null : HEADER_END.exec(bytes.toString('latin1', 0, SEARCHED_BYTES));
  if (end === null) return parseWhole(raw);
  const start = end.index + end[0].length;
  const mail = await parseWhole(raw.subarray(0, start));
  const form = readTextForm(mail.headers);
  if (form === null) return parseWhole(raw);
  const text = form.decoder.decode(raw.subarray(start)).replace(/\r(?:\n|$)/g, '\n');
  return { ...mail, [form.kind]: text.endsWith('\n') ? text : `${text}\n` };
}

/** More than the headers of any mail that the parser accepts. */
const SEARCHED_BYTES = 2 ** 22;
const HEADER_END = /(?:^|\n)\r?\n/;
const TEXT_TYPE = /^text\/(plain|html)[ \t]*(?:;[ \t]*(?!format)[\w-]+=(?:[\w-]+|"[\w-]+")[ \t]*)*;?$/i;
const CHARSET = /;[ \t]*charset="?([\w-]+)/i;
/** Decoders of the most frequent charsets, all of which have line ends of one byte. */
const DECODERS: ReadonlyMap<string, TextDecoder> = new Map(
  ['utf-8', 'us-ascii', 'iso-8859-1', 'iso-8859-15', 'windows-1252'].map((name) => [name, new TextDecoder(name)]),
);

interface TextForm {
  readonly kind: 'text' | 'html';
  readonly decoder: TextDecoder;
}

/** The form of a body that is one text without a transfer encoding; null for any other mail. */
function readTextForm(headers: readonly Header[]): TextForm | null {
  const find = (key: string) => headers.find((header) => header.key === `content-${key}`)?.value;
  const type = find('type') ?? 'text/plain';
  const kind = TEXT_TYPE.exec(type)?.[1];
  const decoder = DECODERS.get((CHARSET.exec(type)?.[1] ?? 'utf-8').toLowerCase());
  if (kind === undefined || decoder === undefined) return null;
  if (!/^(?:[78]bit|binary)$/i.test(find('transfer-encoding') ?? '8bit')) return null;
  if (!/^inline$/i.test(find('disposition') ?? 'inline')) return null;
  return { kind: /plain/i.test(kind) ? 'text' : 'html', decoder };
}

/** All values of a header joined by a space, '' if the mail has none. */
function readMailHeader(mail: MimeMail, key: string): string {
  return mail.headers
    .filter((entry) => entry.key === key)
    .map((entry) => entry.value)
    .join(' ');
}

export function parseMessageIds(value: string): string[] {
  return value.match(/<[^<>\s]+>/g) ?? [];
}

/**
 * A zone that `Date.parse` knows by name, or an offset, which only follows a time: the year of 22-Aug-2002 is not one.
 */
const ZONE = /\b(?:GMT|UTC?|[ECMP][SD]T)\b|:\d\d(?:\.\d+)?\s*(?:[AP]M\s*)?(?:[+-]\d\d:?\d\d|Z)\b/i;

/** A time without a zone, or with the unknown zone `-0000`, is UTC, never the zone of this machine. */
function parseMailTime(value: string): number | null {
  const bare = value.replace(/\([^()]*\)/g, ' ').trim();
  const time = Date.parse(ZONE.test(bare) ? bare : `${bare} UTC`);
  return Number.isNaN(time) ? null : time;
}

function readMailTime(mail: MimeMail): number | null {
  return parseMailTime(readMailHeader(mail, 'date'));
}

/**
 * The hop nearest to the author that bears a legible time: the reader's own machines may have fetched the mail much
 * later.
 */
function findReceivedTime(mail: MimeMail): number | null {
  const hops = mail.headers
    .filter((entry) => entry.key === 'received')
    .map(({ value }) => parseMailTime(value.slice(value.lastIndexOf(';') + 1)));
  return hops.findLast((time) => time !== null) ?? null;
}

function readMailBody(mail: MimeMail): string {
  const text = mail.text?.trim() ? mail.text : convertHtmlToText(mail.html ?? '');
  return normaliseBody(text);
}

/** A text with one kind of line end and of space. */
export function normaliseBody(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/[\u00a0\u2007\u202f]/g, ' ');
}

function convertHtmlToText(html: string): string {
  return convert(html, {
    wordwrap: false,
    selectors: [
      { selector: 'a', options: { ignoreHref: true } },
      { selector: 'img', format: 'skip' },
    ],
  });
}
