import { expect, test } from 'vitest';
import { buildTableBundle, phrase, shortenShown, showText, stateShown } from './display.ts';

test('a sensitive text has a place holder', () => {
  expect([showText('the pin is 4711', true), showText('noon', false)]).toEqual(['(sensitive: not shown)', 'noon']);
});

test('a phrase is its words with numbers and showable texts between, a short one a line', () => {
  const name = stateShown('model_not_found');
  expect(phrase`status ${404}: ${name}\n`).toBe('status 404: model_not_found\n');
  expect(shortenShown(stateShown(' one\n two  three '), 9)).toBe('one two …');
  expect(shortenShown(stateShown('one\ntwo'), 7)).toBe('one two');
});

test('the compiler refuses a plain text of data', () => {
  const text: string = 'of a turn';
  const cell = { text };
  // @ts-expect-error -- a table takes showable texts
  expect(buildTableBundle([cell])).toBeDefined();
  // @ts-expect-error -- so does a phrase
  expect(phrase`a turn: ${text}`).toBeDefined();
});
