import { expect, test } from 'vitest';
import { languageModel } from './language-model.ts';

test('one model serves all who read with it', () => {
  expect(languageModel()).toBe(languageModel());
});

test('it finds sentences, parts of speech and entities', () => {
  const { readDoc, its } = languageModel();
  const document = readDoc('Ada met Grace. They spoke for an hour in 1952.');
  expect(document.sentences().out()).toEqual(['Ada met Grace.', 'They spoke for an hour in 1952.']);
  expect(document.tokens().out(its.pos).slice(0, 4)).toEqual(['PROPN', 'VERB', 'PROPN', 'PUNCT']);
  expect(document.entities().out()).toContain('1952');
});

test('what a text holds does not depend on what was read before', () => {
  const { readDoc } = languageModel();
  const tokens = (text: string) => readDoc(text).tokens().out();
  const own = tokens("an rpm's spec");
  expect(tokens("an rpm's, spec")).toHaveLength(own.length);
  expect(tokens("an rpm's spec")).toEqual(own);
});

test('a document is still whole when others were read', () => {
  const { readDoc, its } = languageModel();
  const document = readDoc('Zyxwv wrote to Qponm.');
  readDoc('Others wrote to Zyxwv.');
  expect(document.tokens().out(its.value)).toEqual(['Zyxwv', 'wrote', 'to', 'Qponm', '.']);
});
