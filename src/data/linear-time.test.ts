import { describe, expect, test } from 'vitest';
import { ElementSplitter } from './documents/sgml-elements.ts';
import { parseTrecDocument } from './documents/trec-collection.ts';
import { readChatGptMessage } from './exports/chatgpt-export.ts';
import { selectAsked } from './exports/message-turns.ts';
import { readSlackText } from './exports/slack-export.ts';
import { ORDINARY, parseIsoDate } from './exports/source-message.ts';
import { parseIrcLog } from './irc/irc-log.ts';
import { isMbox } from './mail/mail-archive.ts';
import { parseMail, readMailingList } from './mail/mail-message.ts';
import { withoutQuotes } from './mail/mail-quotes.ts';
import { withoutMatter } from './mail/mail-text.ts';
import { Pseudonyms } from './mail/pseudonyms.ts';
import { Counts } from './prepared/prepared.ts';
import { classifyQuery } from './prepared/reply-judgements.ts';

/**
 * A text of this size takes some milliseconds in linear time. In quadratic time it takes minutes: an expression that tries every place with the whole rest of the text
 * runs into the time limit of the test.
 */
const SIZE = 1_000_000;
const run = (unit: string) => unit.repeat(Math.ceil(SIZE / unit.length));
const splitTrimmedLines = (text: string) => text.split('\n').map((line) => line.trimEnd());

describe('a text of a million characters is read in linear time', () => {
  test.each([
    ['a word without an at sign', run('a')],
    ['a word of at signs', run('a@')],
    ['dots behind an address', `ana@x${run('.')}y`],
  ])('for pseudonyms: %s', (_, text) => {
    const pseudonyms = new Pseudonyms();
    expect(pseudonyms.registerAuthor(text, text)).toBe('person-001');
    expect(pseudonyms.hide(text).length).toBeGreaterThan(0);
  });

  test('for pseudonyms: a name as long as the text', () => {
    const pseudonyms = new Pseudonyms();
    pseudonyms.registerAuthor(run('ana '), '');
    expect(pseudonyms.hide(`${run('ana ')}cruz`)).toMatch(/ana cruz$/);
  });

  test.each([
    ['tabs', `${run('\t')}wrote:\n> so`],
    ['tabs in an attribution', `on${run('\t')}wrote:`],
    ['a long word', `${run('a')} wrote:\n> so`],
    ['an address of at signs', `<${run('@')}\n> so`],
    ['a verb in one word', `${run('escribi!')}\n> so`],
    ['addresses in lines that end in a colon', `${run(`ana@${'x'.repeat(300)}:\n`)}> so`],
  ])('for quotes: %s', (_, text) => {
    expect(withoutQuotes(splitTrimmedLines(text)).lines.length).toBeLessThan(SIZE);
  });

  test.each([
    ['dashes, then underscores', `-----------${run('-')}${run('_')}`],
    ['spaces behind a quote mark', `>${run(' ')}x`],
    ['spaces behind a forwarded mail', `-- original${run(' ')}x`],
    ['line ends of another kind in a forwarded mail', `-- original message${run(' ')}\u2028x\u2028y`],
    ['pages of lists', `x\nhttp://a${run('/listinfo/')} x`],
    ['addresses of pages', `x\n${'_'.repeat(20)}\n${run('http://a')}`],
    ['signatures', run('--\n')],
    ['forwarded mails', run(' -- forwarded\n')],
  ])('for what its author did not write: %s', (_, text) => {
    expect(withoutMatter(text).lines.length).toBeLessThan(SIZE);
  });

  test.each(['x-beenthere', 'x-mailing-list', 'list-post', 'sender'])('for the list in %s', (key) => {
    for (const value of [run('a'), run('mailto:'), run('list-owner')])
      expect(readMailingList([{ key, originalKey: key, value }])).toBeNull();
  });

  test('for the times of an envelope line', () => {
    expect(isMbox(Buffer.from(`From ana ${run('12:34 ')}`))).toBe(false);
  });

  test('for the comments of a date', async () => {
    const mail = await parseMail(Buffer.from(`Date: Thu, 22 Aug 2002 09:07:00 +0000 ${run('\t')}x\n\ntext`));
    expect(mail.time).toBeNull();
  });

  test('for question marks', () => {
    expect(classifyQuery(`${run('?')}x`)).toBe('statement');
    expect(classifyQuery(`${run('?')}! x`)).toBe('question');
  });

  test.each(['\ue200', '\ue200a', '\ue200a\ue201'])('for the sources of an answer: %j', (unit) => {
    const message = {
      author: { role: 'assistant' },
      content: { content_type: 'text', parts: [`x${run(unit)}`] },
    };
    expect(readChatGptMessage(message, new Counts()).text.startsWith('x')).toBe(true);
  });

  test.each(['<', '<@', '<a|', '<|>', '&lt;', '<@U1>'])('for the references of Slack: %s', (unit) => {
    const pseudonyms = new Pseudonyms();
    expect(readSlackText(`x ${run(unit)}`, pseudonyms, new Set(['U1'])).startsWith('x')).toBe(true);
  });

  test.each(['a\n', '- ', 'word ', 'ab cd\n'])('for the lines of a query: %j', (unit) => {
    const text = run(unit);
    const turn = { id: 'a', conversationId: 'c', parentId: null, timestamp: 1, author: null, channel: null, text };
    const message = { ...ORDINARY, ...turn, time: 1 };
    const read = [turn, { ...turn, id: 'b' }].map((one) => ({ turn: one, message, answers: true, notAsked: null }));
    expect(selectAsked(read, () => true, new Counts()).length).toBeLessThan(2);
  });

  test('for a date', () => {
    expect(parseIsoDate(`2024-03-01T09:00:00${run('+')}`)).toBeNull();
  });

  test('for what somebody does on a channel', () => {
    const { messages } = parseIrcLog('2002-08-22', `[09:07]  * ana${run('a')}\u2028x\u2028y`, new Counts());
    expect(messages[0]?.text).toBe('x\u2028y');
  });

  test.each(['<', '<a', '<!--', '<TITLE>', '<DOCNO>', '</', '&', '&#1', '<TITLE>a</TITLE>', '</DO', '<DO'])(
    'for the tags of a document: %s',
    (unit) => {
      const text = `<DOC><DOCNO>d</DOCNO>${run(unit)}</DOC>`;
      const splitter = new ElementSplitter('DOC', 'docs.trec');
      // In small chunks, as a file that is read as a stream.
      const chunks = Array.from({ length: Math.ceil(text.length / 997) }, (_, i) => text.slice(997 * i, 997 * (i + 1)));
      const elements = chunks.flatMap((chunk) => splitter.push(chunk));
      splitter.finish();
      expect(elements.map((element) => parseTrecDocument(element, 'docs.trec').id)).toEqual(['d']);
    },
  );
});
