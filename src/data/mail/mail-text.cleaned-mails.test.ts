import { describe, expect, test } from 'vitest';
import { ignoreProgress } from '../../core/terminal/progress.ts';
import { Counts } from '../prepared/prepared.ts';
import { type CleanMail, cleanMails, selectMails } from './mail-text.ts';
import type { DatedMail } from './read-mails.ts';
import type { Link } from './thread-parents.ts';

function buildDatedMail(id: string, body: string, bulk = false): DatedMail {
  return {
    id,
    inReplyTo: [],
    references: [],
    time: 0,
    timeFromReceived: false,
    authorName: '',
    authorAddress: '',
    list: null,
    body,
    bulk,
  };
}

const QUESTION = 'How many eggs does a good sponge for eight hungry people need?';
const ANSWER = 'Four will do, if they are large and you beat them long enough before you bake.';

describe('cleaning', () => {
  function clean(bodies: readonly (readonly [id: string, time: number, body: string])[], counts = new Counts()) {
    const mails = new Map(bodies.map(([id, , body]) => [id, buildDatedMail(id, body)]));
    return cleanMails(mails, new Map(bodies.map(([id, time]) => [id, time])), counts, ignoreProgress);
  }

  test('goes by the times that are given, of one moment by id', () => {
    const cleaned = clean([
      ['c', 7, 'three'],
      ['é', 5, 'two'],
      ['z', 5, 'one'],
      ['a', 11, 'four'],
    ]);
    expect(cleaned.map(({ mail, time, text }) => [mail.id, time, text])).toEqual([
      ['z', 5, 'one'],
      ['é', 5, 'two'],
      ['c', 7, 'three'],
      ['a', 11, 'four'],
    ]);
  });

  test('leaves the own words, and counts the lines that go by why they go', () => {
    const counts = new Counts();
    const body = `On Monday Ann wrote:\n> ${QUESTION}\n> Tell me soon.\n\n\n\n\nFour of them.\n\n${QUESTION}\n-- \nAnn Lee\nOslo`;
    const [, answer] = clean(
      [
        ['question', 1, QUESTION],
        ['answer', 2, body],
      ],
      counts,
    );
    expect([answer?.text, answer?.tokens]).toEqual(['Four of them.', 3]);
    expect(counts.toFacts()).toMatchObject({
      'lines cut: quotes': 2,
      'lines cut: attributions': 1,
      'lines cut: said in an earlier mail': 1,
      'lines cut: signature': 3,
    });
  });

  test('keeps at most one empty line between paragraphs', () => {
    expect(clean([['a', 1, '\n\none\n\n\n\ntwo\n\nthree\n']])[0]?.text).toBe('one\n\ntwo\n\nthree');
  });

  test('tells a copy by what it said before its lines went', () => {
    const cleaned = clean([
      ['copy', 3, ANSWER],
      ['first', 2, ANSWER],
      ['other', 1, QUESTION],
    ]);
    expect(cleaned.map(({ mail, text, copyOf }) => [mail.id, text, copyOf])).toEqual([
      ['other', QUESTION, null],
      ['first', ANSWER, null],
      ['copy', '', 'first'],
    ]);
  });

  test('a line that an earlier mail only quotes is said as well', () => {
    const cleaned = clean([
      ['quoting', 1, `> ${ANSWER}\n\nI do not believe a word of this.`],
      ['late', 2, ANSWER],
    ]);
    expect(cleaned.map(({ text }) => text)).toEqual(['I do not believe a word of this.', '']);
  });

  test('tells how far it is', () => {
    const done: number[] = [];
    const finished: unknown[] = [];
    const mails = new Map(Array.from({ length: 101 }, (_, i) => [`m${i}`, buildDatedMail(`m${i}`, `text ${i}`)]));
    const times = new Map([...mails.keys()].map((id, i) => [id, i]));
    cleanMails(mails, times, new Counts(), (stage, total) => {
      expect([stage, total]).toEqual(['clean texts', 101]);
      return { update: (count) => void done.push(count), finish: () => void finished.push(stage) };
    });
    expect([done, finished.length]).toEqual([[0, 50, 100], 1]);
  });
});

describe('selecting', () => {
  const buildCleanMail = (id: string, tokens = 7, copyOf: string | null = null, bulk = false): CleanMail => ({
    mail: buildDatedMail(id, '', bulk),
    time: 0,
    text: '',
    tokens,
    copyOf,
  });
  const buildLink = (id: string): Link => ({ id, direct: true });
  const listMailIds = (mails: readonly CleanMail[]) => mails.map(({ mail }) => mail.id);

  const mails = [
    buildCleanMail('root'),
    buildCleanMail('letter', 7, null, true),
    buildCleanMail('asked-letter', 7, null, true),
    buildCleanMail('empty', 0),
    buildCleanMail('copy', 0, 'root'),
    buildCleanMail('answering-letter', 7, null, true),
    buildCleanMail('to-empty'),
    buildCleanMail('to-copy'),
    buildCleanMail('to-letter'),
    buildCleanMail('single', 1),
  ];
  const links = new Map([
    ['empty', buildLink('root')],
    ['answering-letter', buildLink('root')],
    ['to-empty', buildLink('empty')],
    ['to-copy', buildLink('copy')],
    ['to-letter', buildLink('asked-letter')],
  ]);
  const counts = new Counts();
  const { kept, dropped, links: lifted } = selectMails(mails, links, counts);

  test('drops copies, mails without text and bulk that answers nothing, and keeps the order', () => {
    const stays = ['root', 'answering-letter', 'to-empty', 'to-copy', 'to-letter', 'single'];
    expect(listMailIds(kept)).toEqual(stays);
    expect(listMailIds(dropped)).toEqual(['letter', 'asked-letter', 'empty', 'copy']);
  });

  test('counts each of them once', () => {
    expect(counts.toFacts()).toEqual({
      'dropped: near-duplicates': 1,
      'dropped: no text of their own': 1,
      'dropped: newsletters that answer nothing': 2,
    });
  });

  test('has the answers to what is dropped hang from what it hung from, or was a copy of', () => {
    const parents = [...lifted].map(([id, link]) => [id, link.id]);
    expect(Object.fromEntries(parents)).toEqual({
      'answering-letter': 'root',
      'to-empty': 'root',
      'to-copy': 'root',
    });
  });
});
