import { expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { curateTurns } from './curate-turns.ts';
import { curationArmOptions } from './signal-options.ts';

await useBackend('cpu');
const options = curationArmOptions.parse({});
const texts = [
  'Ada lives in London',
  'ada lives in london',
  'Eve paints red boats',
  'Ada lives in London near the river',
  'Ada no longer lives in London',
];
const turns = texts.map((text, i) => ({ id: `t${i}`, text })) as never;
/** Those about Ada are alike. */
const vectors = Float32Array.from(texts.flatMap((text) => (text.startsWith('Eve') ? [0, 1] : [1, 0])));
const curate = (count: number) =>
  curateTurns({ turns: (turns as object[]).slice(0, count) as never }, vectors.slice(0, 2 * count), 2, options);

test('a duplicate, a shorter text and a contradicted one lose weight from the turn on that decides it', async () => {
  const { since, factors } = await curate(5);
  expect([...since]).toEqual([3, 1, -1, 4, -1]);
  expect([...factors]).toEqual([0, 0, 1, Math.fround(0.3), 1]);
});

test('later turns change no decision that came before them', async () => {
  const all = await curate(5);
  for (let count = 1; count < 5; count++) {
    const { since } = await curate(count);
    expect([...since]).toEqual([...all.since.slice(0, count)].map((turn) => (turn < count ? turn : -1)));
  }
});
