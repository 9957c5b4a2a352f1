import { z } from 'zod';
import { parseOrNull } from '../../core/validation/validation.ts';
import type { Pseudonyms } from '../mail/pseudonyms.ts';
import type { Counts } from '../prepared/counts.ts';
import { type Person, parseIsoDate, parseSeconds } from './source-message.ts';

const entity = z.object({ type: z.string(), text: z.string(), user_id: z.number().nullish() });
type Entity = z.output<typeof entity>;

/** A text, or its parts: plain ones, and entities such as links and mentions. */
const telegramText = z.union([z.string(), z.array(z.union([z.string(), entity]))]);
type TelegramText = z.output<typeof telegramText>;

/** Entities that identify a person by something else than a name. */
const PRIVATE: Readonly<Record<string, string>> = {
  phone: '[phone]',
  bank_card: '[bank card]',
};

/** The text as it was written. */
function joinTelegramText(text: TelegramText): string {
  if (typeof text === 'string') return text;
  return text.map((part) => (typeof part === 'string' ? part : part.text)).join('');
}

/** The text with people and addresses replaced: an account such as `@ana` is an address. */
export function hideTelegramText(text: TelegramText, pseudonyms: Pseudonyms): string {
  if (typeof text === 'string') return pseudonyms.hide(text);
  const hideEntity = ({ type, text: said, user_id }: Entity): string => {
    if (type === 'mention_name' && typeof user_id === 'number') return pseudonyms.registerAuthor('', `user${user_id}`);
    return type === 'mention' ? `${said.replace(/^@/, '')}@telegram` : (PRIVATE[type] ?? said);
  };
  return pseudonyms.hide(text.map((part) => (typeof part === 'string' ? part : hideEntity(part))).join(''));
}

const chat = z.object({
  id: z.number(),
  name: z.string().nullish(),
  type: z.string(),
  messages: z.array(z.unknown()),
});
export type TelegramChat = z.output<typeof chat>;

const message = z.object({
  id: z.number(),
  type: z.string(),
  date: z.string().nullish(),
  date_unixtime: z.string().nullish(),
  edited_unixtime: z.string().nullish(),
  edited: z.string().nullish(),
  from: z.string().nullish(),
  from_id: z.string().nullish(),
  text: telegramText.nullish(),
  poll: z.object({ question: telegramText }).nullish(),
  reply_to_message_id: z.number().nullish(),
  reply_to_peer_id: z.string().nullish(),
  forwarded_from: z.unknown().optional(),
  saved_from: z.unknown().optional(),
  action: z.string().nullish(),
  title: z.string().nullish(),
});
type Message = z.output<typeof message>;

/** A message of a chat, with its time. */
export interface TelegramMessage {
  readonly id: number;
  /** In milliseconds since 1970; messages of one second are a millisecond apart, in the order of the chat. */
  readonly time: number;
  readonly author: Person | null;
  readonly text: TelegramText;
  /** The message of this chat that it answers, by id; null if it states none. */
  readonly answers: number | null;
  readonly forwarded: boolean;
  readonly skipped: string | null;
  /** The title of the topic of a forum that the message opens; null for any other message. */
  readonly opens: string | null;
}

/** The schema of result.json: one chat, or an account with all of its chats. */
export const telegramResult = z.union([
  z.object({ messages: z.array(z.unknown()) }).loose(),
  z
    .object({
      chats: z.object({ list: z.array(z.unknown()) }),
      left_chats: z.object({ list: z.array(z.unknown()) }).nullish(),
    })
    .transform(({ chats, left_chats }) => ({ list: [...chats.list, ...(left_chats?.list ?? [])] })),
]);

/** The chats of result.json; those of another form are counted. */
export function listTelegramChats(result: z.output<typeof telegramResult>, counts: Counts): TelegramChat[] {
  const raw = 'list' in result ? (result.list as unknown[]) : [result];
  const chats = raw.flatMap((one) => parseOrNull(chat, one) ?? []);
  counts.add('chats', raw.length);
  if (chats.length < raw.length) counts.add('skipped: chats of an unknown form', raw.length - chats.length);
  return chats;
}

/** The messages of a chat in time order. */
export function listTelegramMessages({ messages }: TelegramChat, counts: Counts): TelegramMessage[] {
  const read = messages.flatMap((raw) => {
    const known = parseOrNull(message, raw);
    const time = known === null ? null : readTime(known, counts);
    if (known === null) counts.add('skipped: messages of an unknown form');
    else if (time === null) counts.add('skipped: messages without a time');
    return known === null || time === null ? [] : [{ known, time }];
  });
  read.sort((a, b) => a.time - b.time || a.known.id - b.known.id);
  let [second, order] = [Number.NaN, 0];
  return read.map(({ known, time }) => {
    order = time === second ? Math.min(order + 1, 999) : 0;
    second = time;
    return readMessage(known, time + order, counts);
  });
}

const DAY_MILLISECONDS = 86_400_000;

/** Older exports have only a date without its zone. */
function readTime({ date_unixtime, date }: Message, counts: Counts): number | null {
  const time = parseSeconds(date_unixtime);
  if (time !== null) return time;
  const read = parseIsoDate(date);
  if (read !== null) counts.add('times without a zone, read as UTC');
  return read;
}

/** Older exports date an unedited message as edited in 1970, in the zone of who exported. */
function isEdited({ edited_unixtime, edited }: Message): boolean {
  const time = parseSeconds(edited_unixtime) ?? parseIsoDate(edited);
  return time !== null && time > DAY_MILLISECONDS;
}

function readMessage(known: Message, time: number, counts: Counts): TelegramMessage {
  const { id, from, from_id, reply_to_message_id, reply_to_peer_id, action, title } = known;
  const written = known.text ?? '';
  const text = joinTelegramText(written).trim() === '' ? (known.poll?.question ?? '') : written;
  const skipped = findSkipReason(known, text);
  if (skipped === null && isEdited(known)) counts.add('messages edited later, which have their last text');
  return {
    id,
    time,
    author: typeof from_id === 'string' ? { name: from ?? '', id: from_id } : null,
    text,
    answers: typeof reply_to_peer_id === 'string' ? null : (reply_to_message_id ?? null),
    forwarded: known.forwarded_from !== undefined || known.saved_from !== undefined,
    skipped,
    opens: action === 'topic_created' ? (title ?? '') : null,
  };
}

function findSkipReason({ type }: Message, text: TelegramText): string | null {
  if (type !== 'message') return 'service messages';
  return joinTelegramText(text).trim() === '' ? 'media without a text' : null;
}
