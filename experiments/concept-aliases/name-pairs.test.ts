import { expect, test } from 'vitest';
import {
  chooseThreshold,
  findByLetters,
  listNamedThings,
  listNamePairs,
  measureThreshold,
  type NamePair,
} from './name-pairs.ts';

const passages = [
  { title: 'Ann Davis (actress)', text: 'Ann Bradford Davis (May 3, 1926) was an actress.' },
  { title: 'Monster truck', text: 'A monster truck is a vehicle.' },
  { title: 'Lyon', text: 'In France, a city is named so.' },
  { title: 'Ann King', text: 'Ann K. King is a singer.' },
];

test('the names of a thing are its title without brackets and what its passage begins with', () => {
  expect(listNamedThings(passages, ['Rome', 'Ann Davis'])).toEqual(
    new Map([
      ['ann davis', new Set(['ann davis'])],
      ['ann bradford davis', new Set(['ann davis'])],
      ['monster truck', new Set(['monster truck'])],
      ['lyon', new Set(['lyon'])],
      ['ann king', new Set(['ann king'])],
      ['ann k. king', new Set(['ann king'])],
      ['rome', new Set(['rome'])],
    ]),
  );
});

test('pairs are those of two names of one thing, and those that are found', async () => {
  const pairs = await listNamePairs(passages, ['Monster trucks'], findByLetters(0.2));
  const described = pairs.map(({ forms, isSame, similarity }) => [...forms, isSame, similarity > 0]);
  expect(described).toEqual([
    ['ann bradford davis', 'ann davis', true, true],
    ['ann k. king', 'ann king', true, true],
    ['monster truck', 'monster trucks', false, true],
  ]);
  const halves = (found: readonly NamePair[]) => new Map(found.map(({ forms, half }) => [forms.join(), half]));
  expect(halves(await listNamePairs([...passages].reverse(), ['Monster trucks'], findByLetters(0.2)))).toEqual(
    halves(pairs),
  );
});

test('precision, recall and the threshold of the best F1 are those of one half', () => {
  const describePair = (isSame: boolean, similarity: number, half: NamePair['half'] = 'tune'): NamePair => ({
    forms: ['a', 'b'],
    half,
    isSame,
    similarity,
  });
  const pairs = [
    describePair(true, 0.9),
    describePair(true, 0.6),
    describePair(false, 0.5),
    describePair(false, 0.4),
    describePair(true, 0),
    describePair(false, 0.9, 'held out'),
  ];
  expect(measureThreshold(pairs, 'tune', 0.5)).toEqual({
    threshold: 0.5,
    found: 3,
    precision: 2 / 3,
    recall: 2 / 3,
    f1: expect.closeTo(2 / 3, 12),
  });
  expect(measureThreshold(pairs, 'held out', 0.95)).toMatchObject({ precision: 0, recall: 0, f1: 0 });
  expect(chooseThreshold(pairs, 'tune', [0.3, 0.55, 0.6, 0.7]).threshold).toBe(0.6);
});
