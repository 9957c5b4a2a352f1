import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ignoreProgress } from '../../core/terminal/progress.ts';
import type { Prepared } from '../prepared/prepared.ts';
import { readHamMails } from './mail-archive.ts';
import { buildMailDataset } from './mail-dataset.ts';
import { prepareMails } from './mail-preparation.ts';

const folder = mkdtempSync(join(tmpdir(), 'mails-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Draft {
  readonly id?: string;
  readonly from?: string;
  readonly minute: number | null;
  readonly answers?: string;
  readonly refers?: string;
  readonly text: string;
}

function writeDraft({ id, from = 'Ana Cruz <ana@x.example>', minute, answers, refers, text }: Draft): string {
  const date = minute === null ? 'one day' : new Date(Date.UTC(2002, 7, 22, 9, minute)).toUTCString();
  const headers = [
    `From: ${from}`,
    `Date: ${date}`,
    'Subject: eggs',
    'List-Id: <cooks.x.example>',
    ...(id === undefined ? [] : [`Message-Id: <${id}@x>`]),
    ...(answers === undefined ? [] : [`In-Reply-To: <${answers}@x>`]),
    ...(refers === undefined ? [] : [`References: ${refers}`]),
  ];
  return `${headers.join('\n')}\n\n${text}\n`;
}

const QUESTION = 'How many eggs does a good sponge for eight hungry people need?';
const ANSWER = 'Four will do, if they are large and you beat them long enough, says Bea Luz.';
const RECIPE = 'A pound cake has a pound of flour, butter, sugar and eggs each, and nothing more.';

const EASY: Record<string, Draft> = {
  a: { id: 'question', minute: 2, text: QUESTION },
  b: {
    id: 'answer',
    from: 'Bea Luz <bea@x.example>',
    minute: 3,
    answers: 'question',
    text: `> ${QUESTION}\n\n${ANSWER}`,
  },
  c: { id: 'copy', minute: 5, answers: 'question', text: ANSWER },
  d: { id: 'quote-only', minute: 7, answers: 'answer', text: `> ${ANSWER}` },
  e: {
    id: 'late',
    minute: 11,
    answers: 'quote-only',
    text: 'I tried with three of them and bea@x.example was right, it fell flat at once.',
  },
  f: {
    id: 'early',
    minute: 1,
    answers: 'answer',
    text: 'Thank you very much, that is just what I wanted to know today.',
  },
  g: { id: 'short', minute: 13, answers: 'question', text: 'Four.' },
  h: {
    id: 'of-copy',
    minute: 17,
    answers: 'copy',
    text: 'But surely five of them would make it lighter than four ever could.',
  },
  i: {
    id: 'of-ancestor',
    minute: 19,
    refers: '<question@x> <lost@x>',
    text: 'This one answers a mail that the archive does not have any more.',
  },
  j: { id: 'single', minute: 23, text: RECIPE },
  k: { id: 'single', minute: 29, text: 'the same id again' },
  l: { minute: 31, text: 'no id' },
  m: { id: 'undated', minute: null, text: 'no date' },
  n: { id: 'rss', from: 'Feed <rssfeeds@x.example>', minute: 37, text: 'an item' },
  o: { id: 'hens', minute: 51, text: 'Does anybody here know what hens like to eat in winter?' },
  p: {
    id: 'to-hens',
    minute: 53,
    answers: 'hens',
    text: 'Mine get wheat with some greens, and warm water when it is freezing outside.',
  },
};
const HARD: Record<string, Draft> = {
  a: { id: 'newsletter', minute: 41, text: 'Buy our eggs, they are on offer for the whole of this week.' },
  b: {
    id: 'answered-newsletter',
    minute: 43,
    text: 'Our hens moved house last week and they like it very much there.',
  },
  c: {
    id: 'to-newsletter',
    minute: 47,
    answers: 'answered-newsletter',
    text: 'I am glad to hear that your hens like it, and hope for good eggs soon.',
  },
};

function writeGroup(group: string, mails: Record<string, Draft>): void {
  const data = join(folder, 'data', group);
  mkdirSync(data, { recursive: true });
  for (const [name, draft] of Object.entries(mails)) writeFileSync(join(data, `${name}.txt`), writeDraft(draft));
}

describe('prepareMails', () => {
  let prepared: Prepared;
  beforeAll(async () => {
    writeGroup('easy-ham-1', EASY);
    writeGroup('hard-ham-1', HARD);
    writeGroup('spam-1', { a: { id: 'spam', minute: 53, text: 'not ham' } });
    writeFileSync(join(folder, 'data', 'easy-ham-1', 'z.txt'), `X-Long: ${'x'.repeat(3_000_000)}\n\ntext\n`);
    prepared = await prepareMails(readHamMails({ folder, version: '0' }), 'time', ignoreProgress);
  });

  it('counts every step', () => {
    expect(prepared.facts).toMatchObject({
      'mails read': 20,
      'skipped: unreadable': 1,
      'skipped: no id': 1,
      'skipped: id seen': 1,
      'skipped: no date': 1,
      'dropped: RSS items': 1,
      'replies whose parent is there': 9,
      'replies of which only an older ancestor is there': 1,
      'times moved after their parent': 1,
      'lines cut: quotes': 2,
      'dropped: near-duplicates': 1,
      'dropped: no text of their own': 1,
      'dropped: newsletters that answer nothing': 2,
      'left out: replies dated before their parent': 1,
      messages: 11,
      authors: 2,
      'threads of two or more': 2,
      'messages in threads of two or more': 9,
      'trees with a query': 2,
      queries: 3,
    });
  });

  it('makes one tree of what answers each other', () => {
    const findTurnByText = (start: string) => prepared.turns.find((turn) => turn.text.startsWith(start));
    const findParentText = (start: string) =>
      prepared.turns.find((turn) => turn.id === findTurnByText(start)?.parentId)?.text.slice(0, 8);
    expect(findTurnByText('How many')?.parentId).toBeNull();
    expect(findParentText('Four will')).toBe('How many');
    expect(findParentText('I tried')).toBe('Four wil');
    expect(findParentText('Thank you')).toBe('Four wil');
    expect(findParentText('But surely')).toBe('Four wil');
    expect(findParentText('This one')).toBe('How many');
    expect(findTurnByText('A pound')?.conversationId).toBe('t-m0008');
  });

  it('asks only replies that say something to a parent that is known and said something', () => {
    const asked = prepared.queries.map((query) => query.text.slice(0, 8));
    expect(asked).toEqual(['Four wil', 'But sure', 'Mine get']);
  });

  it('moves a reply that is dated before its parent behind it as a turn, and asks no such reply', () => {
    const thanks = prepared.turns.find((turn) => turn.text.startsWith('Thank you'));
    expect(thanks?.timestamp).toBe(Date.UTC(2002, 7, 22, 9, 3, 1));
    expect(prepared.queries.map(({ turnId }) => turnId)).not.toContain(thanks?.id);
  });

  it('drops a newsletter though it is answered, and hangs the answer from nothing', () => {
    const glad = prepared.turns.find((turn) => turn.text.startsWith('I am glad'));
    expect(glad?.parentId).toBeNull();
    expect(prepared.turns.filter((turn) => turn.text.startsWith('Our hens'))).toEqual([]);
  });

  it('judges each query', () => {
    const { qrels } = buildMailDataset({ name: 'mails', licence: 'none' }, prepared);
    expect([...(qrels.get('q-m0006') ?? [])]).toEqual([
      ['m0001', 2],
      ['m0002', 3],
      ['m0003', 1],
      ['m0004', 1],
      ['m0005', 1],
    ]);
  });

  it('leaves nothing to learn from where all is for test', async () => {
    const all = await prepareMails(readHamMails({ folder, version: '0' }), 'test', ignoreProgress);
    expect(prepared.devConversations).not.toEqual([]);
    expect(all.devConversations).toEqual([]);
    expect(prepared.queries.map(({ split }) => split)).toEqual(['dev', 'dev', 'test']);
    expect(all.queries).toEqual(prepared.queries.map((query) => ({ ...query, split: 'test' })));
    expect(all.turns).toEqual(prepared.turns);
  });

  it('hides who wrote', () => {
    expect(prepared.turns[1]?.text).toBe(
      'Four will do, if they are large and you beat them long enough, says person-002.',
    );
    expect(JSON.stringify(prepared)).not.toMatch(/\b(?:ana|bea|cruz|luz)\b|@/i);
  });
});
