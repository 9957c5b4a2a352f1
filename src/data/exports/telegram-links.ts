import { ORDINARY, type SourceMessage } from './source-message.ts';
import type { TelegramChat, TelegramMessage } from './telegram-chats.ts';

/** A message in its place, before people have pseudonyms. */
export interface PlacedMessage extends Omit<SourceMessage, 'author' | 'channel' | 'text'> {
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
 * The messages of a chat with their parents. A reply is below the message that it answers. Any other message continues the message before it in its topic, unless
 * there was a longer silence: it then starts a conversation. Nothing depends on later messages. O(messages).
 *
 * @param messages in time order.
 * @param silence in milliseconds.
 */
export function linkTelegramMessages(
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

/** The topics of a forum: each is opened by a service message, which its messages answer, directly or over other messages. */
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
