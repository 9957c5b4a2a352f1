import { describe, expect, it } from 'vitest';
import { Counts } from '../prepared/prepared.ts';
import { type SampleNode, writeChatGptChat, writeChatGptMessage } from './chatgpt.fixture.ts';
import { listChatGptMessages } from './chatgpt-export.ts';
import { buildMessageTurns } from './message-turns.ts';

function read(chats: readonly unknown[]) {
  const counts = new Counts();
  const turns = buildMessageTurns(listChatGptMessages(chats, counts), 'versions', counts);
  return { turns: turns.map(({ turn }) => turn), read: turns, facts: counts.toFacts() };
}

const node = (id: string, parent: string | null, message: unknown): SampleNode => ({ id, parent, message });
const user = (text: string, seconds: number | null = 100, more = {}) =>
  writeChatGptMessage('user', text, seconds, more);
const assistant = (text: string, seconds: number | null = 200, more = {}) =>
  writeChatGptMessage('assistant', text, seconds, more);
const content = (type: string, fields: object) => ({ content: { content_type: type, ...fields } });

describe('a chat with tools', () => {
  const chat = writeChatGptChat('soup', 90, [
    node('root', null, null),
    node('system', 'root', writeChatGptMessage('system', '', null)),
    node('profile', 'system', user('', null, content('user_editable_context', { user_profile: 'I cook.' }))),
    node('hidden', 'profile', user('secret', 95, { metadata: { is_visually_hidden_from_conversation: true } })),
    node('asked', 'hidden', user('How long do lentils take?', 100)),
    node('thoughts', 'asked', assistant('', 101, content('thoughts', { thoughts: [{ summary: 'hm' }] }))),
    node('empty', 'thoughts', assistant('', 102)),
    node(
      'call',
      'empty',
      assistant('', 103, { ...content('code', { language: 'json', text: '{"q": 1}' }), recipient: 'web' }),
    ),
    node(
      'quote',
      'call',
      writeChatGptMessage('tool', '', 104, content('tether_quote', { url: 'x', text: 'red ones' })),
    ),
    node('answer', 'quote', assistant('Ten minutes.\ue200cite\ue202turn0search0\ue201', 105)),
    node('code', 'answer', assistant('', 106, content('code', { language: 'python', text: 'print(10)' }))),
  ]);

  it('keeps what was said, below what it answers', () => {
    const { turns, facts } = read([chat]);
    expect(turns).toEqual([
      {
        id: 'asked',
        conversationId: 'soup',
        parentId: null,
        timestamp: 100_000,
        author: 'user',
        channel: null,
        text: 'How long do lentils take?',
      },
      {
        id: 'answer',
        conversationId: 'soup',
        parentId: 'asked',
        timestamp: 105_000,
        author: 'assistant',
        channel: null,
        text: 'Ten minutes.',
      },
      {
        id: 'code',
        conversationId: 'soup',
        parentId: 'answer',
        timestamp: 106_000,
        author: 'assistant',
        channel: null,
        text: 'print(10)',
      },
    ]);
    expect(facts).toEqual({
      chats: 1,
      'messages on branches that are not shown': 0,
      'skipped: nodes without a message': 1,
      'skipped: system messages': 1,
      'skipped: content of type user_editable_context': 1,
      'skipped: hidden messages': 1,
      'skipped: content of type thoughts': 1,
      'skipped: messages without a text': 1,
      'skipped: calls of tools': 1,
      'skipped: tool messages': 1,
    });
  });

  it('counts an answer over the machinery as an answer to the person', () => {
    expect(read([chat]).read.map(({ answers }) => answers)).toEqual([false, true, true]);
  });
});

describe('a message with parts', () => {
  it('is its texts and what was spoken; pictures are left out and counted', () => {
    const parts = [
      { content_type: 'image_asset_pointer', asset_pointer: 'file-service://x' },
      { content_type: 'audio_transcription', text: 'What is this?', direction: 'in' },
      'A lentil?',
      7,
    ];
    const { turns, facts } = read([
      writeChatGptChat('c', 1, [node('a', null, user('', 2, content('multimodal_text', { parts })))]),
    ]);
    expect(turns.map(({ text }) => text)).toEqual(['What is this?\nA lentil?']);
    expect(facts).toMatchObject({
      'left out of a message: image_asset_pointer': 1,
      'left out of a message: a part of an unknown form': 1,
    });
  });

  it('that is a picture alone is skipped, and its answer answers nothing that is there', () => {
    const parts = [{ content_type: 'image_asset_pointer' }];
    const { read: turns, facts } = read([
      writeChatGptChat('c', 1, [
        node('a', null, user('', 2, content('multimodal_text', { parts }))),
        node('b', 'a', assistant('A lentil.', 3)),
      ]),
    ]);
    expect(turns.map(({ turn, answers }) => [turn.id, turn.parentId, answers])).toEqual([['b', null, false]]);
    expect(facts['skipped: messages without a text']).toBe(1);
  });
});

describe('times', () => {
  it('that are missing are those of the chat, after the parent, and the message is not asked', () => {
    const { read: turns } = read([
      writeChatGptChat('c', 50, [
        node('a', null, user('one', null)),
        node('b', 'a', assistant('two', null)),
        node('d', 'b', user('three', 60)),
      ]),
    ]);
    expect(turns.map(({ turn, notAsked }) => [turn.id, turn.timestamp, notAsked])).toEqual([
      ['a', 50_000, 'without a time'],
      ['b', 50_001, 'without a time'],
      ['d', 60_000, null],
    ]);
  });

  it('of a chat without one are those of its first message', () => {
    const { turns } = read([
      writeChatGptChat('c', null, [node('a', null, user('one', 70)), node('b', 'a', assistant('two', null))]),
    ]);
    expect(turns.map(({ timestamp }) => timestamp)).toEqual([70_000, 70_001]);
  });

  it('before the parent are moved after it, and the message is not asked', () => {
    const { read: turns } = read([
      writeChatGptChat('c', 50, [node('a', null, user('one', 80)), node('b', 'a', assistant('two', 79.5))]),
    ]);
    expect(turns.map(({ turn, notAsked }) => [turn.timestamp, notAsked])).toEqual([
      [80_000, null],
      [80_001, 'dated before their parent'],
    ]);
  });

  it('that are nowhere in a chat leave it out', () => {
    expect(read([writeChatGptChat('c', null, [node('a', null, user('one', null))])])).toMatchObject({
      turns: [],
      facts: { 'skipped: chats without a time': 1 },
    });
  });
});

describe('what does not fit is counted', () => {
  it('a chat, a message, a role', () => {
    const { turns, facts } = read([
      { title: 'no mapping' },
      writeChatGptChat('c', 1, [
        node('a', null, user('one', 2)),
        node('b', 'a', { author: 'me' }),
        node('d', 'b', writeChatGptMessage('critic', 'no', 3)),
        node('e', 'd', assistant('two', 4)),
      ]),
    ]);
    expect(turns.map(({ id, parentId }) => [id, parentId])).toEqual([
      ['a', null],
      ['e', 'a'],
    ]);
    expect(facts).toMatchObject({
      'skipped: chats of an unknown form': 1,
      'skipped: messages of an unknown form': 1,
      'skipped: messages of another role': 1,
    });
  });

  it('messages that a later chat copied, which the first chat keeps', () => {
    const copied = [node('a', null, user('one', 2)), node('b', 'a', assistant('two', 3))];
    const {
      turns,
      read: all,
      facts,
    } = read([
      writeChatGptChat('later', 9, [...copied, node('d', 'b', user('three', 10))]),
      writeChatGptChat('first', 1, copied),
    ]);
    expect(turns.map(({ id, conversationId, parentId }) => [id, conversationId, parentId])).toEqual([
      ['a', 'first', null],
      ['b', 'first', 'a'],
      ['d', 'later', null],
    ]);
    expect(all.at(-1)?.answers).toBe(false);
    expect(facts['skipped: messages copied from another conversation']).toBe(2);
  });

  it('a circle of parents, and what hangs from it', () => {
    const { turns, facts } = read([
      writeChatGptChat('c', 1, [
        node('a', 'b', user('one', 2)),
        node('b', 'a', assistant('two', 3)),
        node('d', 'b', user('three', 4)),
        node('e', null, user('four', 5)),
      ]),
    ]);
    expect(turns.map(({ id }) => id)).toEqual(['e']);
    expect(facts['skipped: messages in a circle of parents']).toBe(3);
  });

  it('messages of branches that are not shown', () => {
    const nodes = [
      node('a', null, user('one', 2)),
      node('b', 'a', assistant('two', 3)),
      node('d', 'a', assistant('three', 4)),
    ];
    const count = (current: string | null) =>
      read([writeChatGptChat('c', 1, nodes, { current_node: current })]).facts[
        'messages on branches that are not shown'
      ];
    expect([count('d'), count('a'), count(null)]).toEqual([1, 2, undefined]);
  });
});

it('reads a chat of 30,000 messages in a row, passed over or not', () => {
  const nodes = Array.from({ length: 30_000 }, (_, i) => ({
    id: `n${i}`,
    parent: i === 0 ? null : `n${i - 1}`,
    message: i % 3 === 0 ? user(`text ${i}`, i) : null,
  }));
  const mapping = Object.fromEntries(nodes.map((one) => [one.id, { ...one, children: [] }]));
  const { turns } = read([{ id: 'c', create_time: 0, mapping }]);
  expect(turns.length).toBe(10_000);
  expect(turns.at(-1)?.parentId).toBe('n29994');
});
