import { describe, expect, it, test } from 'vitest';
import { isMbox, splitMbox, unquoteFromLines } from './mail-archive.ts';

const encodeMbox = (text: string) => Buffer.from(text, 'latin1');
const decodeMail = (mail: Uint8Array) => Buffer.from(mail).toString('latin1');
const split = (text: string) => splitMbox(encodeMbox(text)).map(decodeMail);

describe('splitMbox', () => {
  it.each([
    ['classic', 'From ana@x.example Thu Aug 22 09:07:00 2002'],
    ['padded', 'From ana@x.example  Thu Aug  2 09:07:00 2002'],
    ['with a zone', 'From 1740@xxx Mon Aug 01 12:00:00 +0000 2022'],
    ['without an address', 'From - Mon Aug 01 12:00:00 2022'],
    ['of a list archive', 'From ana at x.example  Thu Aug 22 09:07:00 2002'],
    ['without seconds', 'From MAILER-DAEMON Thu Aug 22 9:07 2002'],
  ])('takes an envelope line that is %s', (_, envelope) => {
    const mails = [`${envelope}\nSubject: eggs\n\nfour\n\n`, `${envelope}\nSubject: milk\n\nno\n`];
    expect(split(mails.join(''))).toEqual(mails);
  });

  it('takes lines that end in carriage returns too', () => {
    const envelope = 'From ana@x.example Thu Aug 22 09:07:00 2002\r\n';
    const mails = [`${envelope}Subject: eggs\r\n\r\nfour\r\n\r\n`, `${envelope}\r\nno`];
    expect(split(mails.join(''))).toEqual(mails);
  });

  it.each([
    'From now on eggs are cheap.',
    'From 09:07 to 11:13 nobody was there.',
    'From 2002 on eggs were cheap.',
    '>From ana@x.example Thu Aug 22 09:07:00 2002',
    ' From ana@x.example Thu Aug 22 09:07:00 2002',
    'text above\nFrom ana@x.example Thu Aug 22 09:07:00 2002',
    'Sent: From ana@x.example Thu Aug 22 09:07:00 2002',
  ])('leaves a text alone: %j', (line) => {
    const mail = `From ana@x.example Thu Aug 22 09:07:00 2002\nSubject: eggs\n\n${line}\n\n${line}\n`;
    expect(split(mail)).toEqual([mail]);
  });

  it('finds nothing where the file does not begin as a mailbox', () => {
    expect(split('Subject: eggs\n\nfour\n')).toEqual([]);
    expect(split('')).toEqual([]);
  });

  it('gives views, not copies', () => {
    const file = encodeMbox('From - Mon Aug 01 12:00:00 2022\n\nfour\n');
    expect(splitMbox(file)[0]?.buffer).toBe(file.buffer);
  });
});

test('isMbox tells a mailbox from a mail', () => {
  expect(isMbox(encodeMbox('From - Mon Aug 01 12:00:00 2022\nSubject: eggs\n'))).toBe(true);
  expect(isMbox(encodeMbox('From - Mon Aug 01 12:00:00 2022'))).toBe(true);
  expect(isMbox(encodeMbox('From: ana@x.example\n\nFrom - Mon Aug 01 12:00:00 2022\n'))).toBe(false);
  expect(isMbox(encodeMbox(''))).toBe(false);
});

describe('unquoted', () => {
  it('takes a sign off what was quoted, in the body alone, and keeps all bytes else', () => {
    const head = 'From - Mon Aug 01 12:00:00 2022\n>From ana Thu Aug 22\nSubject: \xe9ggs\xff\n\n';
    const body = '>From now on\n>>From then\n> From here\n>From:\nnot >From this\n\xe9\x00\n>From last';
    expect(decodeMail(unquoteFromLines(encodeMbox(head + body)))).toBe(
      `${head}From now on\n>From then\n> From here\n>From:\nnot >From this\n\xe9\x00\nFrom last`,
    );
  });

  it('leaves a mail without a body as it is', () => {
    expect(decodeMail(unquoteFromLines(encodeMbox('Subject: eggs\n>From x')))).toBe('Subject: eggs\n>From x');
  });
});
