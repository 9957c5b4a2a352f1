import { expect, test } from 'vitest';
import { inventTraining } from '../training/invented-training.fixture.ts';
import { cut, renderPerModel } from './model-parts.ts';

const size = { signals: 5, folds: 3, epochs: 5, queries: 29 };

test('models are named where there are several, those without the part are left out', () => {
  const one = inventTraining(7, { ...size, second: false });
  const two = inventTraining(7, { ...size, second: true });
  const namePart = (_: unknown, at: number) => `part ${at}`;
  expect(renderPerModel(one, namePart).text).toBe('part 0');
  expect(renderPerModel(two, namePart).text).toBe('<h3>Model linear</h3>part 0<h3>Model trajectory</h3>part 1');
  expect(renderPerModel(two, (_, at) => (at === 0 ? '' : 'part')).text).toBe('<h3>Model trajectory</h3>part');
});

test('a figure that holds all says nothing', () => {
  expect(cut(40, 'families')).toBe('');
  expect(cut(41, 'families')).toBe(' The figure holds the 40 of 41 families that are greatest in magnitude.');
});
