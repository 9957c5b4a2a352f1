import { z } from 'zod';
import { ignoreProgress, mapWithBreaks } from '../../core/terminal/progress.ts';
import { parseOrNull } from '../../core/validation/validation.ts';
import type { Dataset } from '../../model/dataset.ts';
import type { Pseudonyms } from '../mail/pseudonyms.ts';
import type { DatasetContext } from '../prepared/datasets.ts';
import { Counts } from '../prepared/prepared.ts';
import { buildExportDataset, type ExportOptions } from './export-dataset.ts';
import { findExportFiles, readExport, readJson } from './export-files.ts';
import {
  ORDINARY,
  type Person,
  parseIsoDate,
  parseSeconds,
  registerPeople,
  type SourceMessage,
} from './source-message.ts';

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
function hideTelegramText(text: TelegramText, pseudonyms: Pseudonyms): string {
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
type TelegramChat = z.output<typeof chat>;

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
interface TelegramMessage {
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
const telegramResult = z.union([
  z.object({ messages: z.array(z.unknown()) }).loose(),
  z
    .object({
      chats: z.object({ list: z.array(z.unknown()) }),
      left_chats: z.object({ list: z.array(z.unknown()) }).nullish(),
    })
    .transform(({ chats, left_chats }) => ({ list: [...chats.list, ...(left_chats?.list ?? [])] })),
]);

/** The chats of result.json; those of another form are counted. */
function listTelegramChats(result: z.output<typeof telegramResult>, counts: Counts): TelegramChat[] {
  const raw = 'list' in result ? (result.list as unknown[]) : [result];
  const chats = raw.flatMap((one) => parseOrNull(chat, one) ?? []);
  counts.add('chats', raw.length);
  if (chats.length < raw.length) counts.add('skipped: chats of an unknown form', raw.length - chats.length);
  return chats;
}

/** The messages of a chat in time order. */
function listTelegramMessages({ messages }: TelegramChat, counts: Counts): TelegramMessage[] {
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

/** A message in its place, before people have pseudonyms. */
interface PlacedMessage extends Omit<SourceMessage, 'author' | 'channel' | 'text'> {
  readonly message: TelegramMessage;
  readonly channel: {
    readonly name: string;
    /** The id of the other person of a chat between two; null for a group. */
    readonly withPerson: string | null;
    readonly topic: string | null;
  };
}

/** The kinds of chats by the word that Telegram has for them. */
function formatPeer({ type, id }: TelegramChat): string {
  if (type === 'personal_chat' || type === 'bot_chat') return `user${id}`;
  return type === 'private_group' || type === 'saved_messages' ? `group${id}` : `channel${id}`;
}

/**
 * The messages of a chat with their parents. A reply is below the message that it answers. Any other message continues
 * the message before it in its topic, unless there was a longer silence: it then starts a conversation. Nothing depends
 * on later messages. O(messages).
 *
 * @param messages in time order.
 * @param silence in milliseconds.
 */
function linkTelegramMessages(
  chat: TelegramChat,
  messages: readonly TelegramMessage[],
  silence: number,
): PlacedMessage[] {
  const peer = formatPeer(chat);
  const topics = new TopicsOfForum(messages);
  const last = new Map<number | null, TelegramMessage>();
  const seen = new Set<number>();
  return messages.map((message) => {
    const topic = topics.find(message);
    const before = last.get(topic);
    const continued = before !== undefined && message.time - before.time <= silence ? before.id : null;
    const answered = message.answers !== null && !topics.isOpening(message.answers) && seen.has(message.answers);
    const parent = answered ? message.answers : continued;
    const isService = message.skipped === 'service messages';
    if (!isService) {
      last.set(topic, message);
      seen.add(message.id);
    }
    return {
      ...ORDINARY,
      message,
      channel: {
        name: chat.name ?? peer,
        withPerson: peer.startsWith('user') ? peer : null,
        topic: topic === null ? null : topics.getTitle(topic),
      },
      id: `${peer}/${message.id}`,
      conversationId: null,
      parentId: parent === null || isService ? null : `${peer}/${parent}`,
      time: message.time,
      skipped: message.skipped,
      answers: answered,
      byPerson: !message.forwarded,
      notAsked: message.forwarded ? 'forwarded' : null,
    };
  });
}

/**
 * The topics of a forum: each is opened by a service message, which its messages answer, directly or over other
 * messages.
 */
class TopicsOfForum {
  readonly #titles: ReadonlyMap<number, string>;
  /** The topic of each message seen so far. */
  readonly #topics = new Map<number, number | null>();

  constructor(messages: readonly TelegramMessage[]) {
    this.#titles = new Map(messages.flatMap(({ id, opens }) => (opens === null ? [] : [[id, opens]])));
  }

  isOpening(id: number): boolean {
    return this.#titles.has(id);
  }

  getTitle(id: number): string {
    return this.#titles.get(id) as string;
  }

  /** The topic of a message, null outside all. Messages come in time order. */
  find({ id, answers }: TelegramMessage): number | null {
    const topic = answers === null ? null : this.isOpening(answers) ? answers : (this.#topics.get(answers) ?? null);
    this.#topics.set(id, topic);
    return topic;
  }
}

/** An export of Telegram Desktop; a message without a reply link starts a conversation after `silenceHours` hours of silence. */
export interface TelegramExportOptions extends ExportOptions {
  /** A message without a reply link continues the message before it, unless more hours than this lie between them. */
  readonly silenceHours: number;
}

const HOUR = 3_600_000;

/**
 * Your own chats on Telegram, one or all. See docs/datasets/telegram-export.md.
 *
 * @throws ValidationError for a file of another form, and if no message or no query is left; StorageError if the export cannot be read.
 */
export async function loadTelegramExport(
  { path, silenceHours, ...choice }: TelegramExportOptions,
  { progress = ignoreProgress }: Partial<DatasetContext> = {},
): Promise<Dataset> {
  const counts = new Counts();
  const expected = 'the result.json of an export of Telegram Desktop';
  const placed = await readExport(path, async (files): Promise<PlacedMessage[]> => {
    const all: PlacedMessage[] = [];
    for (const file of findExportFiles(files, /^result\.json$/, 'result.json')) {
      const chats = listTelegramChats(await readJson(file, telegramResult, expected), counts);
      const stage = progress('chats', chats.length);
      await mapWithBreaks(chats, stage, (chat) => {
        for (const one of linkTelegramMessages(chat, listTelegramMessages(chat, counts), silenceHours * HOUR))
          all.push(one);
      });
      stage.finish();
    }
    return all;
  });
  const features = ['text', 'time', 'author (pseudonym)', 'channel (chat and topic)', 'earlier reply links'];
  return buildExportDataset({ name: 'telegram-export', path, features }, hidePeople(placed), choice, counts);
}

/** The messages with pseudonyms: of authors, of whom a text names, and of whom a chat is with. */
function hidePeople(placed: readonly PlacedMessage[]): SourceMessage[] {
  const { pseudonyms, labels } = registerPeople(placed.map(({ message }) => message));
  const nameChannel = ({ name, withPerson, topic }: PlacedMessage['channel']): string => {
    const chat = withPerson === null ? pseudonyms.hide(name) : pseudonyms.registerAuthor(name, withPerson);
    return topic === null ? chat : `${chat}/${pseudonyms.hide(topic)}`;
  };
  return placed.map(({ message, channel, ...rest }, i) => ({
    ...rest,
    author: labels[i] ?? null,
    channel: nameChannel(channel),
    text: message.skipped === null ? hideTelegramText(message.text, pseudonyms).trim() : '',
  }));
}
