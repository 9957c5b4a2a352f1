import { expect, test } from 'vitest';
import { listConcepts } from './list-concepts.ts';

test('concepts are the names of a text and its title, each once', () => {
  expect(listConcepts('Then Hannibal Barca went to Rome, and Rome fell.')).toEqual(['hannibal barca', 'rome']);
  expect(listConcepts('Then they went to Rome.', ' Rome ')).toEqual(['rome']);
  expect(listConcepts('Nothing here.', 'Second Punic War')).toEqual(['second punic war']);
  expect(listConcepts('', ' ')).toEqual([]);
});
