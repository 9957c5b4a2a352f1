import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { getLanguageModel, type LanguageModel, loadLanguageModel } from './language-model.ts';

test('one model serves all who read with it', () => {
  expect(getLanguageModel()).toBe(getLanguageModel());
});

test('it finds sentences, parts of speech and entities', () => {
  const { readDoc, its } = getLanguageModel();
  const document = readDoc('Ada met Grace. They spoke for an hour in 1952.');
  expect(document.sentences().out()).toEqual(['Ada met Grace.', 'They spoke for an hour in 1952.']);
  expect(document.tokens().out(its.pos).slice(0, 4)).toEqual(['PROPN', 'VERB', 'PROPN', 'PUNCT']);
  expect(document.entities().out()).toContain('1952');
});

test('what a text holds does not depend on what was read before', () => {
  const { readDoc } = getLanguageModel();
  const readTokens = (text: string) => readDoc(text).tokens().out();
  const own = readTokens("an rpm's spec");
  expect(readTokens("an rpm's, spec")).toHaveLength(own.length);
  expect(readTokens("an rpm's spec")).toEqual(own);
});

test('a document is still whole when others were read', () => {
  const { readDoc, its } = getLanguageModel();
  const document = readDoc('Zyxwv wrote to Qponm.');
  readDoc('Others wrote to Zyxwv.');
  expect(document.tokens().out(its.value)).toEqual(['Zyxwv', 'wrote', 'to', 'Qponm', '.']);
});

const SAMPLES = [
  'Ada met Grace. They spoke for an hour in 1952 about Zyxwv and qwertyish things, quickly.',
  'The kernel-2.4.18 crashed on myhost.example.com; Bob fixed foobaring it yesterday at 10:30.',
  'Unknownish Frobnicators were frobnicating $20 worth of blargs in Plovdiv on 3 March.',
];

function readSampleTexts({ readDoc, its }: LanguageModel): unknown[] {
  return SAMPLES.map((text) => {
    const document = readDoc(text);
    const tokens = document.tokens();
    const spans = [document.sentences().out(its.span), document.entities().out(its.detail)];
    return [tokens.out(its.value), tokens.out(its.pos), tokens.out(its.normal), ...spans];
  });
}

test('after 20,000 texts of new words, a bounded number of them is kept and texts are read as by a model that has read nothing', () => {
  const kept = 2 ** 11;
  const model = loadLanguageModel({ kept, numbered: 2 ** 20 });
  const fresh = readSampleTexts(loadLanguageModel());
  let most = 0;
  for (let text = 0; text < 20_000; text++) {
    model.readDoc(`Q${text.toString(36)}`);
    most = Math.max(most, model.lexemes);
    if (text % 997 === 0) expect(readSampleTexts(model)).toEqual(fresh);
  }
  expect(most).toBeGreaterThan(kept / 2);
  expect(most).toBeLessThanOrEqual(kept);
});

test('a document is still whole when the list was exchanged', () => {
  const model = loadLanguageModel({ kept: 50, numbered: 2 ** 20 });
  const document = model.readDoc('Zyxwv wrote to Qponm.');
  const before = model.lexemes;
  model.readDoc('Somebodyelse thereupon answers Otherwisely');
  expect(before).toBeGreaterThan(0);
  expect(document.tokens().out(model.its.value)).toEqual(['Zyxwv', 'wrote', 'to', 'Qponm', '.']);
  expect(document.tokens().out(model.its.pos)).toEqual(['PROPN', 'VERB', 'ADP', 'PROPN', 'PUNCT']);
});

test('a text of more words than there are numbers is an error, and the next text is read', () => {
  const lexicon = 87_593;
  const model = loadLanguageModel({ kept: 6, numbered: lexicon + 6 });
  const readUnknownWords = () => model.readDoc('Qaa Qbb Qcc Qdd');
  expect(readUnknownWords).toThrow(ValidationError);
  expect(readUnknownWords).toThrow(/^text of 15 characters has too many distinct words .*; shorten the text$/);
  expect(model.readDoc('Qaa Qbb').tokens().out()).toEqual(['Qaa', 'Qbb']);
});

test.each(['a', 'ab1', '-', 'http://', "a'"])('a long word is read in parts, not in cubic time: %j', (unit) => {
  const word = unit.repeat(20_000 / unit.length);
  const { readDoc } = getLanguageModel();
  const parts = readDoc(`An ${word} end`).tokens().out();
  expect(parts.filter((part) => part.length > 512)).toEqual([]);
  expect(parts.join(' ').replaceAll(' ', '')).toBe(`An${word}end`);
});

test('a word of 512 characters is whole, and no character is cut in two', () => {
  const { readDoc } = getLanguageModel();
  const wordsOf = (text: string) => readDoc(text).tokens().out();
  expect(wordsOf(`${'a'.repeat(512)} b`)).toEqual(['a'.repeat(512), 'b']);
  expect(wordsOf('a'.repeat(513))).toEqual(['a'.repeat(512), 'a']);
  expect(wordsOf('\u{1f600}'.repeat(513)).join('')).toBe('\u{1f600}'.repeat(513));
});
