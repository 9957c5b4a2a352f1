import { describe, expect, test } from 'vitest';
import { ConservationViolationError, ValidationError } from '../../core/errors/errors.ts';
import { validateConservation } from './conservation-laws.ts';
import type { ConservationMetrics } from './conservation-metrics.ts';

function buildMetrics(some: Partial<ConservationMetrics>): ConservationMetrics {
  const energy = some.energy ?? 0.1;
  const information = some.information ?? 2;
  const both = { coherence: 2 * energy, informationBits: information / Math.LN2 };
  return { count: 11, magnitude: 1, energy, information, ...both, ...some };
}

const check = (before: Partial<ConservationMetrics>, after: Partial<ConservationMetrics>, magnitudeThreshold = 0.05) =>
  validateConservation(buildMetrics(before), buildMetrics(after), { magnitudeThreshold });

describe('validateConservation', () => {
  test.each([
    ['as it was', {}, {}, 0],
    ['to the threshold upwards', { magnitude: 4 }, { magnitude: 4.2 }, 0.05],
    ['to the threshold downwards', { magnitude: 4 }, { magnitude: 3.8 }, 0.05],
    ['the first record', { count: 0, magnitude: 0 }, { magnitude: 7 }, 0],
    ['zero vectors to zero vectors', { magnitude: 0 }, { magnitude: 0 }, 0],
  ] as const)('passes magnitude: %s', (_, before, after, drift) => {
    const { magnitudeDrift, warnings } = check(before, after, 0.0501);
    expect(magnitudeDrift).toBeCloseTo(drift, 12);
    expect(warnings).toEqual([]);
  });

  test('throws over the threshold and names the figures', () => {
    const violate = () => check({ magnitude: 4 }, { magnitude: 3 });
    expect(violate).toThrow(ConservationViolationError);
    expect(violate).toThrow('magnitude went from 4 to 3, a drift of 0.25');
    expect(check({ magnitude: 4 }, { magnitude: 3 }, 0.25).magnitudeDrift).toBe(0.25);
    try {
      violate();
    } catch (error) {
      const { code, facts } = error as ConservationViolationError;
      expect(code).toBe('CONSERVATION_VIOLATION');
      expect(facts).toMatchObject({ before: { magnitude: 4 }, after: { magnitude: 3 }, magnitudeDrift: 0.25 });
    }
  });

  test.each([
    ['everything forgotten', { magnitude: 1 }, { count: 0, magnitude: 0 }, 'a drift of 1; '],
    ['a magnitude out of zero vectors', { magnitude: 0 }, { magnitude: 1e-9 }, 'a drift of Infinity; '],
    ['a magnitude that is no number', { magnitude: 1 }, { magnitude: Number.NaN }, 'a drift of NaN; '],
    ['an energy above its range', {}, { energy: 0.500002 }, 'energy is outside [0, 0.5]: 0.500002'],
    ['an energy below its range', {}, { energy: -0.000002 }, 'energy is outside [0, 0.5]: -0.000002'],
    ['an energy that is no number', {}, { energy: Number.NaN }, 'energy is outside [0, 0.5]: NaN'],
  ])('throws for %s', (_, before, after, message) => {
    expect(() => check(before, after)).toThrow(ConservationViolationError);
    expect(() => check(before, after)).toThrow(message);
  });

  test('rounding of a float32 energy passes', () => {
    expect(() => check({}, { energy: 0.5000009 })).not.toThrow();
    expect(() => check({}, { energy: -0.0000009 })).not.toThrow();
  });

  test('falling information warns, rising and rounded does not', () => {
    expect(check({ information: 2.5 }, { information: 2 }).warnings).toEqual(['information fell from 2.5 to 2 nats']);
    expect(check({ information: 2 }, { information: 2.5 }).warnings).toEqual([]);
    expect(check({ information: 2 }, { information: 2 - 0.9e-9 }).warnings).toEqual([]);
    expect(check({ information: 2 }, { information: 2 - 1.1e-9 }).warnings).toHaveLength(1);
  });

  test.each([-0.1, Number.NaN])('refuses the threshold %d', (threshold) => {
    expect(() => check({}, {}, threshold)).toThrow(ValidationError);
    expect(() => check({}, {}, threshold)).toThrow(`magnitudeThreshold is negative: ${threshold}`);
  });
});
