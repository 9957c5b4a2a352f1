import { expect, test } from 'vitest';
import { propagationOptions } from './options.ts';
import { PROPAGATION_PRESETS } from './presets.ts';

test('published has the settings of the paper, in which a turn hears itself the loudest', () => {
  expect(PROPAGATION_PRESETS.published).toEqual({
    topology: 'ring',
    direction: 'none',
    combine: 'multiplicative',
    self: 'include',
    decay: 0.5,
    temperature: 0.1,
    beta: 0.3,
  });
  const { decay, temperature } = PROPAGATION_PRESETS.published;
  const computePublishedLogit = (cosine: number, distance: number) =>
    (Math.exp(-decay * distance) * (1 + cosine)) / 2 / temperature;
  expect(computePublishedLogit(1, 0)).toBeCloseTo(10, 12);
  expect(computePublishedLogit(0.3, 1)).toBeCloseTo(3.94, 2);
});

test('framework leaves the turn itself out and forgets what is far', () => {
  expect(PROPAGATION_PRESETS.framework).toEqual({
    topology: 'ring',
    direction: 'none',
    combine: 'additive',
    self: 'exclude',
    decay: 1,
    temperature: 1,
    beta: 0.5,
  });
});

test('what tuning has resolved is read again', () => {
  for (const preset of Object.values(PROPAGATION_PRESETS)) expect(propagationOptions.parse(preset)).toEqual(preset);
});
