import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { check } from '../../core/validation/validation.ts';
import type { QueryChoice } from '../prepared/datasets.ts';
import { Counts } from '../prepared/prepared.ts';
import { datasetOptions } from '../registry.ts';
import { buildExportDataset } from './export-dataset.ts';
import { ORDINARY, type SourceMessage } from './source-message.ts';

const folder = mkdtempSync(join(tmpdir(), 'asked-'));
afterAll(() => rmSync(folder, { recursive: true }));

const message = (
  id: string,
  conversationId: string,
  parentId: string | null,
  time: number,
  more = {},
): SourceMessage => ({
  ...ORDINARY,
  id,
  conversationId,
  parentId,
  time,
  author: 'ana',
  channel: null,
  text: `This is the message of ${id}, as it was written.`,
  ...more,
});

const SOUP = [message('a', 'soup', null, 100), message('b', 'soup', 'a', 200), message('c', 'soup', 'b', 300)];
const BREAD = [message('x', 'bread', null, 150), message('y', 'bread', 'x', 250)];

function build(messages: readonly SourceMessage[], choice: QueryChoice) {
  const source = { name: 'chatgpt-export', path: 'chats', features: ['text'] };
  return buildExportDataset(source, messages, choice, new Counts());
}

const choose = (queries: QueryChoice['queries']): QueryChoice => ({ queries, queryFile: null });

function writeQueries(name: string, ...lines: string[]): QueryChoice {
  const path = join(folder, name);
  writeFileSync(path, lines.join('\n'));
  return { queries: 'own', queryFile: path };
}

describe('queries of conversations that come without', () => {
  it('none: a corpus to search', async () => {
    const { queries, qrels, corpus, devConversations, facts } = await build([...SOUP, ...BREAD], choose('none'));
    expect([queries, qrels.size, corpus.size, [...devConversations]]).toEqual([[], 0, 5, ['soup']]);
    expect(facts).toEqual({
      'texts with undecodable characters': 0,
      messages: 5,
      conversations: 2,
      queries: 0,
      'queries, dev': 0,
      'queries, test': 0,
    });
  });

  it('own: those of a file, after the last turn where it has no time', async () => {
    const choice = writeQueries(
      'own.jsonl',
      '{"text": "red lentils"}',
      '',
      '{"id": "early", "text": "bread", "timestamp": 160, "kind": "words"}',
    );
    const { queries, qrels } = await build([...SOUP, ...BREAD], choice);
    const shared = { anchorTurnId: null, author: null, channel: null };
    expect(queries).toEqual([
      { ...shared, id: 'early', text: 'bread', timestamp: 160, kind: 'words', split: 'test', cluster: 'early' },
      { ...shared, id: 'own-1', text: 'red lentils', timestamp: 301, split: 'test', cluster: 'own-1' },
    ]);
    expect([...qrels]).toEqual([
      ['early', new Map()],
      ['own-1', new Map()],
    ]);
  });

  it('own: every invalid line is named', async () => {
    const choice = writeQueries(
      'bad.jsonl',
      '{"text": " "}',
      '{"query": "soup"}',
      '{"id": "a", "text": "b"}',
      '{"id": "a", "text": "b"}',
    );
    await expect(build(SOUP, choice)).rejects.toThrow(
      /^3 errors in \S+bad\.jsonl; correct and run again, or remove the rows:\n {2}bad\.jsonl:1: malformed row: text: .+\n {2}bad\.jsonl:2: malformed row: .+\n {2}bad\.jsonl:4: duplicate id: a$/,
    );
    await expect(build(SOUP, writeQueries('empty.jsonl', ''))).rejects.toThrow(
      /^no query in: \S+empty\.jsonl; add a line such as \{"text": "red lentils"\}$/,
    );
  });

  it('replies: the parent alone is relevant', async () => {
    const { queries, qrels, relevantGrade } = await build(SOUP, choose('replies'));
    expect(queries.map(({ id }) => id)).toEqual(['q-b', 'q-c']);
    expect(Object.fromEntries(qrels.get('q-c') ?? [])).toEqual({ a: 2, b: 3 });
    expect(relevantGrade).toBe(3);
  });

  it('continuation: the last message of a person, and conversations without one are counted', async () => {
    const alone = message('z', 'alone', null, 400);
    const last = message('d', 'soup', 'c', 350, { byPerson: false });
    const { queries, relevantGrade, facts } = await build([...SOUP, last, ...BREAD, alone], choose('continuation'));
    expect(queries.map(({ id, split, cluster }) => [id, split, cluster])).toEqual([
      ['q-y', 'test', 'bread'],
      ['q-c', 'dev', 'soup'],
    ]);
    expect(relevantGrade).toBe(1);
    expect(facts['conversations without a query']).toBe(1);
  });

  it('is another dataset with other queries', async () => {
    const kinds = ['replies', 'continuation', 'none'] as const;
    const datasets = await Promise.all(kinds.map((queries) => build(BREAD, choose(queries))));
    expect(new Set(datasets.map(({ hash }) => hash)).size).toBe(3);
  });

  it.each<[string, SourceMessage[], QueryChoice['queries'], RegExp]>([
    [
      'no text',
      [message('a', 'soup', null, 1, { text: ' ' })],
      'none',
      /^no message with a text in: chats \(skipped: messages without a text: 1\); name an export for chatgpt-export$/,
    ],
    [
      'no reply',
      [message('a', 'soup', null, 1)],
      'replies',
      /^no message for queries: replies in: chats; set queries: none/,
    ],
    [
      'no second message',
      [message('a', 'soup', null, 1)],
      'continuation',
      /^no message for queries: continuation in: chats;/,
    ],
  ])('refuses %s', async (_, messages, queries, fault) => {
    await expect(build(messages, choose(queries))).rejects.toThrow(fault);
  });
});

describe('which messages are not asked', () => {
  const count = async (text: string, more = {}) => {
    const earlier = message('a', 'soup', null, 100, {
      text: 'Red lentils cook for a quarter of an hour in salted water.\nThank you so much!',
    });
    const { facts, queries } = await build(
      [earlier, message('b', 'soup', 'a', 200, { text, ...more }), ...BREAD],
      choose('replies'),
    );
    const query = queries.find(({ id }) => id === 'q-b')?.text ?? null;
    return [query, Object.entries(facts).filter(([fact]) => fact.startsWith('not asked'))];
  };

  it.each<[string, string | null, string | null, object?]>([
    ['And how long do green ones take?', 'And how long do green ones take?', null],
    ['> Red lentils cook for a quarter of an hour in salted water.\nOnly red ones?', 'Only red ones?', null],
    ['thank you, so much\nBut green ones?', 'But green ones?', null],
    ['Red lentils cook for a quarter of an hour in water with salt, you said?', null, 'repeat an earlier message'],
    ['Thank you so much!', null, 'repeat an earlier message'],
    ['yes', null, 'shorter than 10 letters'],
    ['And how long do green ones take?', null, 'forwarded', { notAsked: 'forwarded' }],
    ['And how long do green ones take?', null, 'without a time', { timed: false }],
    ['And how long do green ones take?', null, 'dated before their parent', { time: 100 }],
  ])('%s', async (text, expected, reason, more) => {
    expect(await count(text, more)).toEqual([expected, reason === null ? [] : [[`not asked: ${reason}`, 1]]]);
  });

  it('an answer to a message that was skipped', async () => {
    const skipped = message('b', 'soup', 'a', 200, { skipped: 'pictures' });
    const { queries, corpus, facts } = await build(
      [SOUP[0] as SourceMessage, skipped, SOUP[2] as SourceMessage, ...BREAD],
      choose('replies'),
    );
    expect(corpus.getTurn('c').parentId).toBe('a');
    expect(queries.map(({ id }) => id)).toEqual(['q-y']);
    expect(facts['skipped: pictures']).toBe(1);
  });
});

it('skips ids that a run file cannot hold, and messages that are there twice', async () => {
  const messages = [
    ...SOUP,
    message('two words', 'soup', null, 400),
    message('z', 'two words', null, 400),
    message('a', 'soup', null, 500),
  ];
  expect((await build(messages, choose('none'))).facts).toMatchObject({
    'skipped: messages that are there twice': 1,
    'skipped: messages whose id is not one word': 2,
    messages: 3,
  });
});

it.each([
  [{ queries: 'own' }, 'queryFile', 'a file with queries: own, and null otherwise'],
  [{ queries: 'none', queryFile: 'x' }, 'queryFile', 'a file with queries: own, and null otherwise'],
  [{ queries: 'reply' }, 'queries', '"continuation" or "replies" or "own" or "none"'],
])('refuses the options %j', (options, path, expected) => {
  const result = check(datasetOptions, { name: 'chatgpt-export', path: 'x', ...options });
  expect('faults' in result && result.faults.map((fault) => [fault.path, fault.expected])).toEqual([[path, expected]]);
});
