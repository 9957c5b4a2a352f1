import { describe, expect, it } from 'vitest';
import { withoutQuotes } from './mail-quotes.ts';

const dropQuotes = (text: string) => withoutQuotes(text.split('\n')).lines;

describe('withoutQuotes', () => {
  it.each([
    ['plain', '> eggs\n>> milk\n>flour\nYes.'],
    ['indented', '  > eggs\nYes.'],
    ['initials', 'AB> eggs\nGvR> milk\nYes.'],
    ['name', 'Tim> eggs\nYes.'],
    ['arrow', '=> eggs\nYes.'],
    ['run of bars', '| eggs\n| milk\nYes.'],
    ['run of colons', ': eggs\n: milk\nYes.'],
    ['run of braces', '} eggs\n} milk\nYes.'],
    ['run of brackets', ') eggs\n) milk\nYes.'],
    ['broken lines', '> eggs and milk and\nflour\n> and butter\nYes.'],
  ])('%s', (_, mail) => {
    expect(dropQuotes(mail)).toEqual(['Yes.']);
  });

  it.each([
    ['one bar', '| eggs'],
    ['a smiley', ':) eggs'],
    ['code', '} else {'],
    ['words between quotes', 'No, I would not.\n\nNor would she.'],
  ])('keeps %s', (_, mail) => {
    expect(dropQuotes(mail)).toEqual(mail.split('\n'));
  });

  it.each([
    'On Thu, 22 Aug 2002, Ana wrote:',
    'On Thu, Aug 22, 2002 at 10:11:12AM +0100, Ana Pérez\n<ana@x.example> wrote:',
    '"Ana Pérez" <ana@x.example> writes:',
    'Once upon a time, Ana wrote :',
    'Quoting Ana (ana@x.example):',
    '[Ana]',
    'Ana said:',
    'Ana Pérez:',
    'At 10:11 on 22 Aug,\nAna said',
  ])('drops the attribution %j with its quote', (attribution) => {
    expect(withoutQuotes(`${attribution}\n\n> eggs\nYes.`.split('\n'))).toEqual({
      lines: ['', 'Yes.'],
      quotes: 1,
      attributions: attribution.split('\n').length,
    });
  });

  it('drops an attribution whose quote has gone', () => {
    expect(dropQuotes('Yes.\n\nOn Thu, 22 Aug 2002 at 10:11, Ana\nPérez wrote:')).toEqual(['Yes.', '']);
  });

  it('keeps own text before a quote', () => {
    expect(dropQuotes('I beg to differ.\n> eggs')).toEqual(['I beg to differ.']);
  });
});
