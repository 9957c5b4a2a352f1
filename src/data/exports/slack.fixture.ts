import type { SampleChat, SampleMessage } from './export-queries.harness.ts';
import { writeZip } from './zip.fixture.ts';

export const SLACK_USERS = [
  { id: 'U1', name: 'ana', real_name: 'Ana Cruz', profile: { real_name: 'Ana Cruz', display_name: 'ana' } },
  { id: 'U2', name: 'bob', real_name: 'Bob Stone', profile: { real_name: '', display_name: '' } },
];

/** The time stamp of a message, which identifies it in its channel. */
export function formatSlackTime(time: number): string {
  return `${Math.floor(time / 1000)}.${String(time % 1000).padStart(3, '0')}200`;
}

/** A message as an export has it. */
export function writeSlackMessage(time: number, text: string, more: object = {}): object {
  return {
    client_msg_id: `m${time}`,
    type: 'message',
    text,
    user: 'U1',
    ts: formatSlackTime(time),
    team: 'T1',
    ...more,
  };
}

/** The zip file of an export. @param files by name, as values of JSON */
export function writeSlackZip(files: Readonly<Record<string, unknown>>): Buffer {
  return writeZip(Object.entries(files).map(([name, value]) => ({ name, content: JSON.stringify(value) })));
}

export function formatSlackTurnId({ time }: SampleMessage): string {
  return `C1/${formatSlackTime(time)}`;
}

/** Chats as the zip file of one channel: the first message of a chat opens a thread, which all others are in. */
export function encodeSlackExport(chats: readonly SampleChat[]): Buffer {
  const messages = chats.flatMap((chat) => chat.messages);
  const times = new Map(messages.map(({ id, time }) => [id, formatSlackTime(time)]));
  const rows = messages.map(({ time, role, text, parentId }) =>
    writeSlackMessage(time, text, {
      user: role === 'person' ? 'U1' : 'U2',
      ...(parentId === null ? {} : { thread_ts: times.get(parentId), parent_user_id: 'U1' }),
    }),
  );
  return writeSlackZip({
    'channels.json': [{ id: 'C1', name: 'kitchen' }],
    'users.json': SLACK_USERS,
    'kitchen/2024-03-01.json': rows,
  });
}
