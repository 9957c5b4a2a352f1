import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { chooseSentences } from './extractive-summary.ts';

beforeAll(() => useBackend('wasm'));

const COMMON = 'The printer prints blank pages.';
const TEXTS = [
  `${COMMON} Hello!`,
  `${COMMON}\nLunch was lentil soup with bread.`,
  'Blank pages came from the printer.',
];
const choose = async (sentences: number, lambda: number) => chooseSentences(TEXTS, { sentences, lambda });

test('what is common comes first, and what was said is not said again', async () => {
  expect(await choose(1, 0.7)).toEqual([{ text: COMMON, from: 0 }]);
  expect(await choose(2, 1)).toEqual([
    { text: COMMON, from: 0 },
    { text: COMMON, from: 1 },
  ]);
  expect(await choose(2, 0.3)).toEqual([
    { text: COMMON, from: 0 },
    { text: 'Lunch was lentil soup with bread.', from: 1 },
  ]);
});

test('sentences are in the order of the texts, and there may be fewer than asked for', async () => {
  expect((await choose(9, 0.7)).map(({ from }) => from)).toEqual([0, 1, 1, 2]);
  expect(await chooseSentences(['Yes.', ''], { sentences: 3, lambda: 0.7 })).toEqual([]);
});
