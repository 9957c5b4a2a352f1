import type { SampleChat, SampleMessage } from './export-queries.harness.ts';

/** A message as an export has it. */
export function writeTelegramMessage(id: number, time: number, text: unknown, more: object = {}): object {
  return {
    id,
    type: 'message',
    date: new Date(time).toISOString().slice(0, 19),
    date_unixtime: String(Math.floor(time / 1000)),
    from: 'Ana Cruz',
    from_id: 'user11',
    text,
    text_entities: typeof text === 'string' ? [{ type: 'plain', text }] : text,
    ...more,
  };
}

/** A chat as an export of one chat has it. */
export function writeTelegramChat(messages: readonly object[], more: object = {}): object {
  return { name: 'Kitchen', type: 'private_supergroup', id: 77, messages, ...more };
}

/** Numbers of the messages of samples, in the order in which they were asked for. */
const numbers = new Map<string, number>();

function getNumber(id: string): number {
  const number = numbers.get(id) ?? numbers.size + 1;
  numbers.set(id, number);
  return number;
}

export function formatTelegramTurnId({ id }: SampleMessage): string {
  return `channel77/${getNumber(id)}`;
}

/** Chats as the result.json of one group: a message with a parent is a reply. */
export function encodeTelegramExport(chats: readonly SampleChat[]): string {
  const messages = chats.flatMap((chat) => chat.messages);
  return JSON.stringify(
    writeTelegramChat(
      messages.map(({ id, parentId, time, role, text }) =>
        writeTelegramMessage(getNumber(id), time, text, {
          ...(parentId === null ? {} : { reply_to_message_id: getNumber(parentId) }),
          ...(role === 'person' ? {} : { from: 'Bob Stone', from_id: 'user12' }),
        }),
      ),
    ),
  );
}
