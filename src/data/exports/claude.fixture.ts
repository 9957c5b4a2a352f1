import type { SampleChat, SampleMessage } from './export-queries.harness.ts';

/** A message as an export has it. */
export function writeClaudeMessage(
  { id, role, time, text }: Omit<SampleMessage, 'parentId'>,
  more: object = {},
): object {
  const at = new Date(time).toISOString().replace('Z', '000Z');
  return {
    uuid: id,
    text,
    content: [{ start_timestamp: at, stop_timestamp: at, type: 'text', text, citations: [] }],
    sender: role === 'person' ? 'human' : 'assistant',
    created_at: at,
    updated_at: at,
    attachments: [],
    files: [],
    ...more,
  };
}

/** A chat as an export has it. */
export function writeClaudeChat(id: string, start: number | null, messages: readonly object[]): object {
  const at = start === null ? null : new Date(start).toISOString();
  return { uuid: id, name: 'A chat', created_at: at, updated_at: at, account: { uuid: 'me' }, chat_messages: messages };
}

/** The parent that the export states for the first message of a chat. */
export const NO_PARENT = '00000000-0000-4000-8000-000000000000';

/** Chats as a conversations.json with parents. */
export function encodeClaudeExport(chats: readonly SampleChat[]): string {
  return JSON.stringify(
    chats.map(({ id, messages }) =>
      writeClaudeChat(
        id,
        messages[0]?.time ?? 0,
        messages.map((one) => writeClaudeMessage(one, { parent_message_uuid: one.parentId ?? NO_PARENT })),
      ),
    ),
  );
}
