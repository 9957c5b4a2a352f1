import { z } from 'zod';
import { parseOrNull } from '../../core/validation/validation.ts';
import type { Dataset } from '../../model/dataset.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { DatasetContext } from '../prepared/datasets.ts';
import type { Counts } from '../prepared/prepared.ts';
import { loadAssistantExport } from './assistant-export.ts';
import type { ExportOptions } from './export-dataset.ts';
import { parseSeconds, type SourceMessage } from './source-message.ts';

const message = z.object({
  author: z.object({ role: z.string() }),
  create_time: z.number().nullish(),
  content: z.object({
    content_type: z.string(),
    parts: z.array(z.unknown()).nullish(),
    text: z.string().nullish(),
  }),
  recipient: z.string().nullish(),
  metadata: z.object({ is_visually_hidden_from_conversation: z.boolean().nullish() }).nullish(),
});
type Message = z.output<typeof message>;

/** A part of a message that was spoken. */
const transcription = z.object({ content_type: z.literal('audio_transcription'), text: z.string() });
const partOfType = z.object({ content_type: z.string() });

/** The message of a node of a chat. */
interface ChatGptMessage {
  readonly role: string | null;
  readonly text: string;
  /** In seconds since 1970. */
  readonly createTime: number | null;
  readonly skipped: string | null;
  /** True if it is of the machinery, so that what comes after it answers what it comes after. */
  readonly passedOver: boolean;
}

const EMPTY = { role: null, text: '', createTime: null } as const;

/** Reads the message of a node. What is left out of a message that stays is counted. */
export function readChatGptMessage(raw: unknown, counts: Counts): ChatGptMessage {
  if (raw === null || raw === undefined) return { ...EMPTY, skipped: 'nodes without a message', passedOver: true };
  const read = parseOrNull(message, raw);
  if (read === null) return { ...EMPTY, skipped: 'messages of an unknown form', passedOver: false };
  const { role } = read.author;
  const machinery = findMachinery(read);
  const shared = { role, createTime: read.create_time ?? null };
  if (machinery !== null) return { ...shared, text: '', skipped: machinery, passedOver: true };
  const text = readText(read, counts);
  const isByPerson = role === 'user';
  if (text === null) {
    const skipped = `content of type ${read.content.content_type}`;
    return { ...shared, text: '', skipped, passedOver: !isByPerson };
  }
  // The model writes an empty message before it calls a tool; a person's empty message was a picture.
  if (text === '') return { ...shared, text, skipped: 'messages without a text', passedOver: !isByPerson };
  return { ...shared, text, skipped: null, passedOver: false };
}

/** Why a message is no part of what was said; null if it is one. */
function findMachinery({ author: { role }, recipient, metadata }: Message): string | null {
  if (role === 'system' || role === 'tool') return `${role} messages`;
  if (role !== 'user' && role !== 'assistant') return 'messages of another role';
  if (metadata?.is_visually_hidden_from_conversation === true) return 'hidden messages';
  return recipient === 'all' || recipient === null || recipient === undefined ? null : 'calls of tools';
}

/** Marks of sources in an answer, between characters for private use. */
const CITATION = /\ue200[^\ue200\ue201]*\ue201/g;

/** The text of a message; null for a content that is no text. */
function readText({ content: { content_type, parts, text } }: Message, counts: Counts): string | null {
  if (content_type === 'code') return (text ?? '').trim();
  if (content_type !== 'text' && content_type !== 'multimodal_text') return null;
  const said = (parts ?? []).flatMap((part) => {
    if (typeof part === 'string') return [part];
    const spoken = parseOrNull(transcription, part);
    if (spoken !== null) return [spoken.text];
    counts.add(`left out of a message: ${parseOrNull(partOfType, part)?.content_type ?? 'a part of an unknown form'}`);
    return [];
  });
  return said.join('\n').replace(CITATION, '').trim();
}

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

/**
 * Counts the messages that are not between the root and the last message shown: earlier versions, and what came after
 * them.
 */
function countOtherBranches(nodes: Chat['nodes'], currentNode: string | null, counts: Counts): void {
  if (currentNode === null) return;
  const parents = new Map(nodes.map(({ id, parentId }) => [id, parentId]));
  const shown = new Set<string>();
  for (let id: string | null = currentNode; id !== null && !shown.has(id); id = parents.get(id) ?? null) shown.add(id);
  const hidden = nodes.filter(({ id, message }) => message.skipped === null && !shown.has(id));
  counts.add('messages on branches that are not shown', hidden.length);
}

/**
 * Your own chats with ChatGPT, with all branches. See docs/datasets/chatgpt-export.md.
 *
 * @throws ValidationError for a file of another form, and if no message or no query is left; StorageError if the export cannot be read.
 */
export async function loadChatGptExport(
  options: ExportOptions,
  context: Partial<DatasetContext> = {},
): Promise<Dataset> {
  const assistant = {
    name: 'chatgpt-export',
    product: 'ChatGPT',
    file: /^conversations(-\d+)?\.json$/,
    listMessages: listChatGptMessages,
  };
  return loadAssistantExport(assistant, options, context);
}
