import { expect, it } from 'vitest';
import { Counts } from '../prepared/prepared.ts';
import { NO_PARENT, writeClaudeChat, writeClaudeMessage } from './claude.fixture.ts';
import { listClaudeMessages } from './claude-export.ts';
import { buildMessageTurns } from './message-turns.ts';

function read(chats: readonly unknown[]) {
  const counts = new Counts();
  const turns = buildMessageTurns(listClaudeMessages(chats, counts), 'versions', counts);
  return { turns: turns.map(({ turn }) => turn), read: turns, facts: counts.toFacts() };
}

const say = (id: string, role: 'person' | 'assistant', second: number, text: string, more = {}) =>
  writeClaudeMessage({ id, role, time: second * 1000, text }, more);

it('is a line of messages where the export states no parents', () => {
  const { turns } = read([
    writeClaudeChat('soup', 1000, [
      say('a', 'person', 2, 'one'),
      say('b', 'assistant', 3, 'two'),
      say('d', 'person', 4, 'three'),
    ]),
  ]);
  expect(turns).toEqual([
    { id: 'a', conversationId: 'soup', parentId: null, timestamp: 2000, author: 'human', channel: null, text: 'one' },
    {
      id: 'b',
      conversationId: 'soup',
      parentId: 'a',
      timestamp: 3000,
      author: 'assistant',
      channel: null,
      text: 'two',
    },
    { id: 'd', conversationId: 'soup', parentId: 'b', timestamp: 4000, author: 'human', channel: null, text: 'three' },
  ]);
});

it('says the text blocks of a message; thoughts, tools and attached files are left out and counted', () => {
  const content = [
    { type: 'thinking', thinking: 'hm' },
    { type: 'text', text: 'Ten minutes.' },
    { type: 'tool_use', name: 'web', input: {} },
    { type: 'tool_result', content: [] },
    { type: 'text', text: 'Or less.' },
  ];
  const attachments = [{ file_name: 'a.txt', extracted_content: 'long' }];
  const {
    turns,
    read: all,
    facts,
  } = read([
    writeClaudeChat('c', 1000, [
      say('a', 'person', 2, '', { attachments, files: [{ file_name: 'a.png' }] }),
      say('b', 'assistant', 3, 'This block is not supported on your current device yet.', { content }),
      say('d', 'person', 4, 'an older form', { content: [] }),
      say('e', 'assistant', 5, '', { content: [{ type: 'tool_use' }] }),
      say('f', 'assistant', 6, 'after the tool'),
    ]),
  ]);
  expect(turns.map(({ text }) => text)).toEqual(['Ten minutes.\nOr less.', 'an older form', 'after the tool']);
  expect(all.map(({ answers }) => answers)).toEqual([false, true, true]);
  expect(facts).toEqual({
    chats: 1,
    'left out of a message: attached files': 2,
    'left out of a message: thinking': 1,
    'left out of a message: tool_use': 2,
    'left out of a message: tool_result': 1,
    'skipped: messages without a text': 2,
  });
});

it.each([
  ['an unknown form', { sender: 7 }],
  ['an unknown form without an id', { uuid: null }],
  ['another sender', { sender: 'system' }],
])('keeps the place of a message of %s: what follows does not answer what came before', (_, more) => {
  const messages = (parents: boolean) =>
    ['a', 'b', 'd', 'e'].map((id, i) =>
      say(id, i % 2 === 0 ? 'person' : 'assistant', i + 2, `text ${id}`, {
        ...(parents ? { parent_message_uuid: 'abd'[i - 1] ?? NO_PARENT } : {}),
        ...(id === 'b' ? more : {}),
      }),
    );
  const { read: listed } = read([writeClaudeChat('line', 1000, messages(false))]);
  expect(listed.map(({ turn, answers }) => [turn.id, turn.parentId, answers])).toEqual([
    ['a', null, false],
    ['d', 'a', false],
    ['e', 'd', true],
  ]);
  const { read: stated } = read([writeClaudeChat('tree', 1000, messages(true))]);
  expect(stated.map(({ answers }) => answers)).toEqual([false, false, true]);
});

it('counts what does not fit', () => {
  const { turns, facts } = read([
    { uuid: 'no messages' },
    writeClaudeChat('empty', null, []),
    writeClaudeChat('c', null, [
      { uuid: 7 },
      say('a', 'person', 2, 'one'),
      say('b', 'person', 3, 'two', { sender: 'system' }),
      say('d', 'assistant', 4, 'three', { created_at: 'yesterday' }),
    ]),
  ]);
  expect(turns.map(({ id, parentId, timestamp }) => [id, parentId, timestamp])).toEqual([
    ['a', null, 2000],
    ['d', 'a', 2001],
  ]);
  expect(facts).toEqual({
    chats: 3,
    'skipped: chats of an unknown form': 1,
    'skipped: chats without a time': 1,
    'skipped: messages of an unknown form': 1,
    'skipped: messages of another sender': 1,
  });
});
