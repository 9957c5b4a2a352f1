import { expect, test } from 'vitest';
import { ConfigurationError } from '../../../core/errors/errors.ts';
import { type AnsweredQuestion, detectUse } from './detect-use.ts';

const memories = [
  { id: 'pet', text: 'Ines adopted a nervous greyhound from the shelter behind the station' },
  { id: 'other', text: 'Wren adopted a slow tortoise from the shelter behind the station' },
  { id: 'food', text: 'For dinner Ines made smoked trout with lentils' },
];
const ask = (response: string, question = 'Which pet does Ines have?'): AnsweredQuestion => ({
  question,
  response,
  memories,
});
const listUsed = (asked: AnsweredQuestion) => detectUse(asked).flatMap(({ id, used }) => (used ? [id] : []));

test.each([
  ['a quotation', 'Ines adopted a nervous greyhound from the shelter behind the station.', ['pet']],
  ['a short answer', 'A greyhound.', ['pet']],
  ['two memories', 'She has a nervous greyhound and likes smoked trout.', ['pet', 'food']],
  ['a word in common', 'The shelter is closed on Mondays, and volunteers answer the phone until noon.', []],
  ['nothing', 'I do not know.', []],
  ['other words', 'A shy racing dog.', []],
])('%s', (_, response, used) => {
  expect(listUsed(ask(response))).toEqual(used);
});

test('words of the question say nothing', () => {
  expect(listUsed(ask('Ines has a greyhound, as you say.', 'Does Ines have a nervous greyhound?'))).toEqual([]);
});

test('what speaks for a memory is given', () => {
  const [pet, other, food] = detectUse(ask('Ines adopted a nervous greyhound from the shelter.'));
  expect(pet).toEqual({
    ...{ id: 'pet', used: true, weight: 3, words: ['adopt', 'nervous', 'greyhound', 'shelter'] },
    ...{ share: 0.75, span: 'ines adopted a nervous greyhound from' },
  });
  expect([other?.words, other?.weight, food?.span]).toEqual([[], 0, null]); // the better memory explains the words
});

test('no memory, no words and wrong options', () => {
  expect(detectUse({ question: '', response: '', memories: [] })).toEqual([]);
  expect(detectUse({ question: '', response: '', memories }).map(({ share }) => share)).toEqual([0, 0, 0]);
  expect(() => detectUse(ask('x'), { share: 0 })).toThrow(ConfigurationError);
});
