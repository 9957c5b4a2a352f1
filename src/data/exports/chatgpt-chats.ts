import { z } from 'zod';
import { parseOrNull } from '../../core/validation/validation.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { Counts } from '../prepared/counts.ts';
import { type ChatGptMessage, readChatGptMessage } from './chatgpt-message.ts';
import { parseSeconds, type SourceMessage } from './source-message.ts';

const chat = z.object({
  conversation_id: z.string().nullish(),
  id: z.string().nullish(),
  create_time: z.number().nullish(),
  current_node: z.string().nullish(),
  mapping: z.record(z.string(), z.unknown()),
});

const node = z.object({ message: z.unknown().optional(), parent: z.string().nullish() });

/** A chat whose messages are read. */
interface Chat {
  readonly id: string;
  readonly start: number;
  readonly nodes: readonly {
    readonly id: string;
    readonly parentId: string | null;
    readonly message: ChatGptMessage;
  }[];
}

/**
 * The messages of all chats, the oldest chat first: a message that a later chat copied belongs to the first.
 *
 * @param rows of conversations.json.
 */
export function listChatGptMessages(rows: readonly unknown[], counts: Counts): SourceMessage[] {
  counts.add('chats', rows.length);
  const chats = rows.flatMap((row, i) => readChat(row, `chat-${String(i + 1).padStart(5, '0')}`, counts));
  chats.sort((a, b) => a.start - b.start || compareBytes(a.id, b.id));
  return chats.flatMap(listChatMessages);
}

/** @param name of a chat that has no id. */
function readChat(row: unknown, name: string, counts: Counts): Chat[] {
  const read = parseOrNull(chat, row);
  if (read === null) {
    counts.add('skipped: chats of an unknown form');
    return [];
  }
  const nodes = Object.entries(read.mapping).map(([id, raw]) => {
    const known = parseOrNull(node, raw);
    const message = readChatGptMessage(known === null ? {} : known.message, counts);
    return { id, parentId: known?.parent ?? null, message };
  });
  countOtherBranches(nodes, read.current_node ?? null, counts);
  const times = nodes.flatMap(({ message }) => parseSeconds(message.createTime) ?? []);
  const start =
    parseSeconds(read.create_time) ?? times.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY);
  if (Number.isFinite(start)) return [{ id: read.conversation_id ?? read.id ?? name, start, nodes }];
  counts.add('skipped: chats without a time');
  return [];
}

function listChatMessages({ id: conversationId, start, nodes }: Chat): SourceMessage[] {
  return nodes.map(({ id, parentId, message: { role, text, createTime, skipped, passedOver } }) => {
    const time = parseSeconds(createTime);
    return {
      id,
      conversationId,
      parentId,
      time: time ?? start,
      timed: time !== null,
      author: role,
      channel: null, // the title of a chat would tell which messages belong together
      text,
      skipped,
      passedOver,
      answers: true,
      byPerson: role === 'user',
      notAsked: null,
    };
  });
}

/** Counts the messages that are not between the root and the last message shown: earlier versions, and what came after them. */
function countOtherBranches(nodes: Chat['nodes'], currentNode: string | null, counts: Counts): void {
  if (currentNode === null) return;
  const parents = new Map(nodes.map(({ id, parentId }) => [id, parentId]));
  const shown = new Set<string>();
  for (let id: string | null = currentNode; id !== null && !shown.has(id); id = parents.get(id) ?? null) shown.add(id);
  const hidden = nodes.filter(({ id, message }) => message.skipped === null && !shown.has(id));
  counts.add('messages on branches that are not shown', hidden.length);
}
