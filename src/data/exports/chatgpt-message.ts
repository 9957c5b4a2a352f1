import { z } from 'zod';
import { parseOrNull } from '../../core/validation/validation.ts';
import type { Counts } from '../prepared/counts.ts';

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

/** What a node of a chat says. */
export interface ChatGptMessage {
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
