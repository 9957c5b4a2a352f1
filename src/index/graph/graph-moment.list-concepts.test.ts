import { expect, test } from 'vitest';
import { listConcepts, readTitle } from './graph-moment.ts';

test('concepts are the names of a text and its title, each once', () => {
  expect(listConcepts('Then Hannibal Barca went to Rome, and Rome fell.')).toEqual(['hannibal barca', 'rome']);
  expect(listConcepts('Then they went to Rome.', ' Rome ')).toEqual(['rome']);
  expect(listConcepts('Nothing here.', 'Second Punic War')).toEqual(['second punic war']);
  expect(listConcepts('', ' ')).toEqual([]);
});

test('phrases are the noun phrases, names and quoted titles of a text and its title, each once', () => {
  const text = 'Then the elephants of Hannibal crossed "The Old Bridge" near 218 mountains, and an elephant fell.';
  expect(listConcepts(text, 'The Alps (range)', 'phrases')).toEqual([
    'alps (range)',
    'alps',
    'old bridge',
    'elephant',
    'hannibal',
    'mountain',
  ]);
  expect(listConcepts('', ' ', 'phrases')).toEqual([]);
});

test.each([
  [{ title: 'Second Punic War' }, 'Second Punic War'],
  [{ title: 7 }, null],
  [{}, null],
  [undefined, null],
])('the title of a turn with attributes %j is %j', (attributes, title) => {
  const turn = { id: 't', conversationId: 'c', parentId: null, timestamp: 0, author: null, channel: null, text: 'x' };
  expect(readTitle(attributes === undefined ? turn : { ...turn, attributes })).toBe(title);
});
