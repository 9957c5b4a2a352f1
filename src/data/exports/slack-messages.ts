import { z } from 'zod';
import { parseOrNull } from '../../core/validation/validation.ts';
import type { Counts } from '../prepared/counts.ts';
import type { SlackChannel } from './slack-files.ts';
import { ORDINARY, type Person, parseSeconds, type SourceMessage } from './source-message.ts';

const attachment = z.object({
  pretext: z.string().nullish(),
  title: z.string().nullish(),
  text: z.string().nullish(),
  fallback: z.string().nullish(),
});

const message = z.object({
  type: z.string(),
  subtype: z.string().nullish(),
  ts: z.string(),
  thread_ts: z.string().nullish(),
  user: z.string().nullish(),
  bot_id: z.string().nullish(),
  username: z.string().nullish(),
  text: z.string().nullish(),
  attachments: z.array(z.unknown()).nullish(),
  edited: z.unknown().optional(),
});
type Message = z.output<typeof message>;

/** A message in its place, before people have pseudonyms. */
export interface SlackMessage extends Omit<SourceMessage, 'author' | 'channel' | 'text'> {
  readonly author: Person | null;
  readonly channel: SlackChannel;
  /** As Slack wrote it. */
  readonly written: string;
}

/** Subtypes of messages that somebody wrote; the others tell what happened in a channel. */
const WRITTEN: readonly string[] = [
  'bot_message',
  'me_message',
  'thread_broadcast',
  'file_share',
  'file_comment',
  'reply_broadcast',
];
const DELETED = 'tombstone';

/**
 * The messages of a day of a channel. The message that opened a thread is the parent of all others of the thread, and a message outside a thread is a
 * conversation.
 */
export function listSlackMessages(
  rows: readonly unknown[],
  channel: SlackChannel,
  names: ReadonlyMap<string, string>,
  counts: Counts,
): SlackMessage[] {
  return rows.flatMap((raw) => {
    const known = parseOrNull(message, raw);
    const time = known === null ? null : parseSeconds(known.ts);
    if (known === null || time === null) {
      counts.add('skipped: messages of an unknown form');
      return [];
    }
    return [placeMessage(known, time, channel, names, counts)];
  });
}

function placeMessage(
  known: Message,
  time: number,
  channel: SlackChannel,
  names: ReadonlyMap<string, string>,
  counts: Counts,
): SlackMessage {
  const { ts, thread_ts, bot_id, username, edited, subtype } = known;
  const opener = thread_ts ?? ts;
  const written = readText(known);
  const skipped = findSkipReason(known, written);
  if (skipped === null && edited !== undefined && edited !== null)
    counts.add('messages edited later, which have their last text');
  const userId = known.user ?? bot_id ?? username ?? null;
  const isBot = subtype === 'bot_message' || typeof bot_id === 'string';
  return {
    ...ORDINARY,
    id: `${channel.id}/${ts}`,
    conversationId: `t-${channel.id}/${opener}`,
    parentId: opener === ts ? null : `${channel.id}/${opener}`,
    time,
    skipped,
    byPerson: !isBot,
    author: userId === null ? null : { name: names.get(userId) ?? '', id: userId },
    channel,
    written,
  };
}

/** The text, or where there is none, as in the messages of many bots, what is attached. */
function readText({ text, attachments }: Message): string {
  if (typeof text === 'string' && text.trim() !== '') return text;
  const attached = (attachments ?? []).flatMap((raw) => {
    const known = parseOrNull(attachment, raw);
    if (known === null) return [];
    const parts = [known.pretext, known.title, known.text].filter(
      (part) => typeof part === 'string' && part.trim() !== '',
    );
    return parts.length > 0 ? parts : [known.fallback ?? ''];
  });
  return attached.join('\n');
}

function findSkipReason({ type, subtype }: Message, written: string): string | null {
  if (subtype === DELETED) return 'deleted messages';
  if (type !== 'message' || (typeof subtype === 'string' && !WRITTEN.includes(subtype))) return 'service messages';
  return written.trim() === '' ? 'files without a text' : null;
}
