import { z } from 'zod';
import { parseOrNull } from '../../core/validation/validation.ts';
import type { Dataset } from '../../model/dataset.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { DatasetContext } from '../prepared/datasets.ts';
import type { Counts } from '../prepared/prepared.ts';
import { loadAssistantExport } from './assistant-export.ts';
import type { ExportOptions } from './export-dataset.ts';
import { parseIsoDate, type SourceMessage } from './source-message.ts';

const chat = z.object({
  uuid: z.string(),
  created_at: z.unknown().optional(),
  chat_messages: z.array(z.unknown()),
});

const message = z.object({
  uuid: z.string(),
  sender: z.string(),
  created_at: z.unknown().optional(),
  text: z.string().nullish(),
  content: z.array(z.object({ type: z.string(), text: z.string().nullish() })).nullish(),
  attachments: z.array(z.unknown()).nullish(),
  files: z.array(z.unknown()).nullish(),
  parent_message_uuid: z.string().nullish(),
});
type Message = z.output<typeof message>;
type Chat = z.output<typeof chat>;

/**
 * The messages of all chats, the oldest chat first: a message that a later chat copied belongs to the first.
 *
 * @param rows of conversations.json.
 */
export function listClaudeMessages(rows: readonly unknown[], counts: Counts): SourceMessage[] {
  counts.add('chats', rows.length);
  const chats = rows.flatMap((row) => {
    const read = parseOrNull(chat, row);
    if (read === null) counts.add('skipped: chats of an unknown form');
    const start = read === null ? null : findStart(read);
    if (read !== null && start === null) counts.add('skipped: chats without a time');
    return read === null || start === null ? [] : [{ read, start }];
  });
  chats.sort((a, b) => a.start - b.start || compareBytes(a.read.uuid, b.read.uuid));
  return chats.flatMap(({ read, start }) => listChatMessages(read, start, counts));
}

function findStart({ created_at, chat_messages }: Chat): number | null {
  const own = parseIsoDate(created_at);
  if (own !== null) return own;
  const times = chat_messages.flatMap(
    (raw) => parseIsoDate(parseOrNull(z.object({ created_at: z.unknown().optional() }), raw)?.created_at) ?? [],
  );
  return times.length === 0 ? null : times.reduce((least, time) => Math.min(least, time));
}

/** The id and the parent of a message of an unknown form. */
const placed = z.object({ uuid: z.string(), parent_message_uuid: z.string().nullish() });

/**
 * A message of an unknown form keeps its place, so that what follows is not taken for an answer to the message before
 * it.
 */
function readMessage(raw: unknown, i: number): Message & { readonly unknown: boolean } {
  const known = parseOrNull(message, raw);
  if (known !== null) return { ...known, unknown: false };
  return { ...(parseOrNull(placed, raw) ?? { uuid: `unknown ${i}` }), sender: '', unknown: true };
}

/** Older exports do not state parents: each message then comes after the one before it in the list. */
function listChatMessages(
  { uuid: conversationId, chat_messages }: Chat,
  start: number,
  counts: Counts,
): SourceMessage[] {
  const read = chat_messages.map(readMessage);
  const statesParents = read.some(({ parent_message_uuid }) => typeof parent_message_uuid === 'string');
  return read.map((one, i): SourceMessage => {
    const time = parseIsoDate(one.created_at);
    const text = readText(one, counts);
    return {
      id: one.uuid,
      conversationId,
      parentId: (statesParents ? one.parent_message_uuid : read[i - 1]?.uuid) ?? null,
      time: time ?? start,
      timed: time !== null,
      author: one.sender,
      channel: null, // the name of a chat would tell which messages belong together
      text,
      skipped: one.unknown ? 'messages of an unknown form' : findSkipReason(one, text),
      passedOver: one.sender === 'assistant',
      answers: true,
      byPerson: one.sender === 'human',
      notAsked: null,
    };
  });
}

function findSkipReason({ sender }: Message, text: string): string | null {
  if (sender !== 'human' && sender !== 'assistant') return 'messages of another sender';
  return text === '' ? 'messages without a text' : null;
}

/**
 * The joined text blocks of a message. Without blocks `text` is read, which has a placeholder for each block that is
 * not text.
 */
function readText({ text, content, attachments, files }: Message, counts: Counts): string {
  const left = (attachments?.length ?? 0) + (files?.length ?? 0);
  if (left > 0) counts.add('left out of a message: attached files', left);
  if (content === null || content === undefined || content.length === 0) return (text ?? '').trim();
  for (const { type } of content) if (type !== 'text') counts.add(`left out of a message: ${type}`);
  const said = content.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : []));
  return said.join('\n').trim();
}

/**
 * Your own chats with Claude, with all branches where the export has them. See docs/datasets/claude-export.md.
 *
 * @throws ValidationError for a file of another form, and if no message or no query is left; StorageError if the export cannot be read.
 */
export async function loadClaudeExport(
  options: ExportOptions,
  context: Partial<DatasetContext> = {},
): Promise<Dataset> {
  const assistant = {
    name: 'claude-export',
    product: 'Claude',
    file: /^conversations\.json$/,
    listMessages: listClaudeMessages,
  };
  return loadAssistantExport(assistant, options, context);
}
