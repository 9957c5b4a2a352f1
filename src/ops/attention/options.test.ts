import { expect, test } from 'vitest';
import {
  attentionMix,
  PROPAGATION_PRESETS,
  propagationOptions,
  ringAttentionOptions,
  unifiedAttentionOptions,
} from './options.ts';

test('defaults are those of the paper', () => {
  expect(ringAttentionOptions.parse({})).toEqual({
    topology: 'ring',
    direction: 'none',
    combine: 'multiplicative',
    self: 'include',
    decay: 0.5,
    temperature: 0.1,
  });
  expect(unifiedAttentionOptions.parse({})).toMatchObject({ mode: 'directed', mix: { rcp: 0.4, ircp: 0.4, tpo: 0.2 } });
});

test.each([
  [ringAttentionOptions, { topolgy: 'line' }],
  [ringAttentionOptions, { topology: 'torus' }],
  [ringAttentionOptions, { temperature: 0 }],
  [ringAttentionOptions, { decay: -1 }],
  [unifiedAttentionOptions, { direction: 'causal' }],
  [propagationOptions, { beta: 1.1 }],
  [attentionMix, { rcp: 0.5 }],
  [attentionMix, { rcp: -0.2, ircp: 1, tpo: 0.2 }],
])('refuses %#', (schema, input) => {
  expect(schema.safeParse(input).success).toBe(false);
});

test.each([
  [0.19, true],
  [0.195, true],
  [0.21, true],
  [0.189, false],
  [0.211, false],
])('a mix may be off by 0.01: 0.4, 0.4 and %d', (tpo, isFine) => {
  expect(attentionMix.safeParse({ rcp: 0.4, ircp: 0.4, tpo }).success).toBe(isFine);
});

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
