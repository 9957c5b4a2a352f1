import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { describeExportQueries, TALK } from './export-queries.harness.ts';
import {
  encodeTelegramExport,
  formatTelegramTurnId,
  writeTelegramChat,
  writeTelegramMessage,
} from './telegram.fixture.ts';
import { loadTelegramExport } from './telegram-export.ts';
import { writeZip } from './zip.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'telegram-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const START = Date.UTC(2024, 2, 1, 9);
let written = 0;

async function load(result: unknown, queries: 'none' | 'replies' = 'none', silenceHours = 8) {
  const path = join(folder, `${written++}.json`);
  writeFileSync(path, JSON.stringify(result));
  return loadTelegramExport({ path, queries, queryFile: null, silenceHours });
}

const message = (id: number, hours: number, text: unknown, more = {}) =>
  writeTelegramMessage(id, START + hours * HOUR, text, more);
const bob = { from: 'Bob Stone', from_id: 'user12' };

describeExportQueries(
  {
    name: 'telegram-export',
    // Each message without a reply link starts a conversation, as in the samples.
    load: (options) => loadTelegramExport({ ...options, silenceHours: 0.001 }),
    encode: encodeTelegramExport,
    formatTurnId: formatTelegramTurnId,
    hasVersions: false,
  },
  TALK,
);

describe('conversations', () => {
  it('are replies, and messages that follow each other without a long silence', async () => {
    const { corpus, queries, qrels } = await load(
      writeTelegramChat([
        message(1, 0, 'Who has the oven tonight?'),
        message(2, 1, 'I need it at eight or so.', bob),
        message(3, 10, 'Good morning to everybody!'),
        message(4, 11, 'It was free after nine, then.', { ...bob, reply_to_message_id: 1 }),
        message(5, 12, 'So I saw, thank you.'),
        message(6, 13, 'An answer to what is gone.', { reply_to_message_id: 999 }),
        message(7, 14, 'An answer to another chat.', { reply_to_message_id: 1, reply_to_peer_id: 'channel5' }),
      ]),
      'replies',
    );
    expect(corpus.turns.map(({ id, parentId, conversationId }) => [id, parentId, conversationId])).toEqual([
      ['channel77/1', null, 't-channel77/1'],
      ['channel77/2', 'channel77/1', 't-channel77/1'],
      ['channel77/3', null, 't-channel77/3'],
      ['channel77/4', 'channel77/1', 't-channel77/1'],
      ['channel77/5', 'channel77/4', 't-channel77/1'],
      ['channel77/6', 'channel77/5', 't-channel77/1'],
      ['channel77/7', 'channel77/6', 't-channel77/1'],
    ]);
    expect(queries.map(({ id }) => id)).toEqual(['q-channel77/4']);
    expect(Object.fromEntries(qrels.get('q-channel77/4') ?? [])).toEqual({ 'channel77/1': 3, 'channel77/2': 1 });
  });

  it('of a forum are within a topic', async () => {
    const { corpus } = await load(
      writeTelegramChat([
        message(1, 0, '', { type: 'service', action: 'topic_created', title: 'Bread' }),
        message(2, 0, '', { type: 'service', action: 'topic_created', title: 'Soup' }),
        message(3, 1, 'one', { reply_to_message_id: 1 }),
        message(4, 1.1, 'two', { reply_to_message_id: 2 }),
        message(5, 1.2, 'three', { reply_to_message_id: 1 }),
        message(6, 1.3, 'four', { reply_to_message_id: 4 }),
        message(7, 1.4, 'five'),
      ]),
    );
    expect(corpus.turns.map(({ text, parentId, channel }) => [text, parentId, channel])).toEqual([
      ['one', null, 'Kitchen/Bread'],
      ['two', null, 'Kitchen/Soup'],
      ['three', 'channel77/3', 'Kitchen/Bread'],
      ['four', 'channel77/4', 'Kitchen/Soup'],
      ['five', null, 'Kitchen'],
    ]);
  });

  it('order the messages of one second by their numbers, and ask them', async () => {
    const { corpus, queries } = await load(
      writeTelegramChat([
        message(9, 1, 'And who has the pan tonight?', { ...bob, reply_to_message_id: 8 }),
        message(8, 1, 'Who has the oven tonight?'),
      ]),
      'replies',
    );
    expect(corpus.turns.map(({ timestamp }) => timestamp - START - HOUR)).toEqual([0, 1]);
    expect(queries.length).toBe(1);
  });
});

describe('texts and people', () => {
  const everything = {
    about: 'x',
    chats: {
      about: 'x',
      list: [
        writeTelegramChat([
          message(1, 0, [
            'Bob Stone, write to ',
            { type: 'email', text: 'ana@x.example' },
            ' or ',
            { type: 'mention', text: '@ana_cruz' },
            ', call ',
            { type: 'phone', text: '+1 555 0100' },
            ', ask ',
            { type: 'mention_name', text: 'Robert', user_id: 12 },
            ', see ',
            { type: 'text_link', text: 'this', href: 'https://x.example' },
          ]),
          message(2, 1, 'I did.', bob),
        ]),
        writeTelegramChat([message(1, 2, 'Only us two?', bob)], { name: 'Bob Stone', type: 'personal_chat', id: 12 }),
      ],
    },
    left_chats: { list: [writeTelegramChat([message(1, 3, 'I left it.')], { name: null, id: 78 })] },
  };

  it('have pseudonyms, from all chats of an account', async () => {
    const { corpus, facts } = await load(everything);
    expect(corpus.turns.map(({ id, author, channel, text }) => [id, author, channel, text])).toEqual([
      [
        'channel77/1',
        'person-001',
        'Kitchen',
        'person-002, write to address-0001 or address-0002, call [phone], ask person-002, see this',
      ],
      ['channel77/2', 'person-002', 'Kitchen', 'I did.'],
      ['user12/1', 'person-002', 'person-002', 'Only us two?'],
      ['channel78/1', 'person-001', 'channel78', 'I left it.'],
    ]);
    expect(facts.chats).toBe(3);
  });

  it('are the same from a folder and a zip file', async () => {
    const json = JSON.stringify(everything);
    writeFileSync(join(folder, 'result.json'), json);
    writeFileSync(join(folder, 'x.zip'), writeZip([{ name: 'DataExport/result.json', content: json }]));
    const options = { queries: 'none', queryFile: null, silenceHours: 8 } as const;
    const zipped = await loadTelegramExport({ path: join(folder, 'x.zip'), ...options });
    expect(zipped.hash).toBe((await loadTelegramExport({ path: folder, ...options })).hash);
  });

  it('are counted where they are left out', async () => {
    const { corpus, facts, queries } = await load(
      writeTelegramChat([
        message(1, 0, '', { photo: 'photo.jpg' }),
        message(2, 0.1, 'What is that in the photo?', { reply_to_message_id: 1 }),
        message(3, 0.2, '', { poll: { question: 'Soup or bread?', answers: [] } }),
        message(4, 0.3, 'Soup, of course, what else?', { reply_to_message_id: 3, edited_unixtime: '1709286000' }),
        message(5, 0.4, 'Somebody else wrote this, long ago.', { reply_to_message_id: 3, forwarded_from: 'Eve' }),
        message(6, 0.5, '', { type: 'service', action: 'pin_message' }),
        { id: 'six' },
        { id: 7, type: 'message', text: 'no time' },
        { id: 8, type: 'message', text: 'an old date', date: '2024-03-01T10:00:00', edited: '1970-01-01T03:00:00' },
      ]),
      'replies',
    );
    expect(corpus.turns.map(({ text }) => text)).toEqual([
      'What is that in the photo?',
      'Soup or bread?',
      'Soup, of course, what else?',
      'Somebody else wrote this, long ago.',
      'an old date',
    ]);
    expect(queries.map(({ id }) => id)).toEqual(['q-channel77/4']);
    expect(facts).toMatchObject({
      'skipped: media without a text': 1,
      'skipped: service messages': 1,
      'skipped: messages of an unknown form': 1,
      'skipped: messages without a time': 1,
      'times without a zone, read as UTC': 1,
      'messages edited later, which have their last text': 1,
      'not asked: forwarded': 1,
    });
  });

  it('refuses a file of another form', async () => {
    const error = await load([]).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as Error).message).toMatch(/: expected .+; name the result\.json of an export of Telegram Desktop$/);
  });
});
