import { expect, test } from 'vitest';
import { sampleTraining } from '../training/invented-training.fixture.ts';
import { cut, perModel } from './model-parts.ts';

const size = { signals: 5, folds: 3, epochs: 5, queries: 29 };

test('models are named where there are several, those without the part are left out', () => {
  const one = sampleTraining(7, { ...size, second: false });
  const two = sampleTraining(7, { ...size, second: true });
  const part = (_: unknown, at: number) => `part ${at}`;
  expect(perModel(one, part).text).toBe('part 0');
  expect(perModel(two, part).text).toBe('<h3>Model linear</h3>part 0<h3>Model trajectory</h3>part 1');
  expect(perModel(two, (_, at) => (at === 0 ? '' : 'part')).text).toBe('<h3>Model trajectory</h3>part');
});

test('a figure that holds all says nothing', () => {
  expect(cut(40, 'families')).toBe('');
  expect(cut(41, 'families')).toBe(' The figure holds the 40 of 41 families that are greatest in magnitude.');
});
