import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { COMBINATIONS } from './attention-options.cases.ts';
import { checkRows } from './attention-rows.ts';
import { buildKeySupport, computeBandError, computeBandWidth, findLeastBandWidth } from './band.ts';
import { RING_ATTENTION_DEFAULTS, type RingAttentionOptions } from './options.ts';

const SIZE = 10007;

/** Worst share of a row's mass that is wrong beyond W, among rows of equal keys far away: the case that the bound is made for. */
function findWorstShare(
  combine: 'multiplicative' | 'additive',
  decay: number,
  temperature: number,
  width: number,
): number {
  let wrong = 0;
  let mass = 0;
  for (let j = -Math.floor(SIZE / 2); j <= SIZE / 2; j++) {
    const d = Math.abs(j);
    if (d === 0) continue;
    const near = d <= width;
    // Nothing near resembles the query, all that is far does.
    const semantic = near ? 0 : 1;
    const logit =
      combine === 'multiplicative'
        ? (Math.exp(-decay * d) * semantic) / temperature
        : semantic / temperature - decay * d;
    mass += Math.exp(logit);
    if (!near) wrong += Math.exp(logit) - (combine === 'multiplicative' ? 1 : 0);
  }
  return wrong / mass;
}

describe.each([
  ['multiplicative', 0.5, 0.1],
  ['multiplicative', 0.9, 1],
  ['additive', 1, 1],
  ['additive', 0.5, 0.1],
] as const)('%s, decay %d, temperature %d', (combine, decay, temperature) => {
  test.each([1e-2, 1e-5])('keeps %d', (tolerance) => {
    const width = computeBandWidth({ combine, decay, temperature }, tolerance);
    expect(findWorstShare(combine, decay, temperature, width)).toBeLessThan(tolerance);
    expect(width).toBeLessThan(60);
  });
});

test('known widths', () => {
  expect(computeBandWidth({ combine: 'multiplicative', decay: 0.5, temperature: 0.1 }, 1e-5)).toBe(28);
  expect(computeBandWidth({ combine: 'additive', decay: 1, temperature: 1 }, 1e-5)).toBe(14);
  expect(computeBandWidth({ combine: 'multiplicative', decay: 9, temperature: 9 }, 0.5)).toBe(1);
});

test('no width is enough where nothing fades', () => {
  expect(computeBandWidth({ combine: 'additive', decay: 0, temperature: 1 }, 1e-5)).toBe(Number.POSITIVE_INFINITY);
  expect(() => computeBandWidth({ combine: 'additive', decay: 1, temperature: 1 }, 0)).toThrow(
    'tolerance of a band is not positive: 0',
  );
});

describe('the error of a row', () => {
  const TURNS = 101;
  /**
   * Of one row, its query at a position, in the worst conversation for a band: what is near does not resemble the query
   * and has one value, what is far does and has the opposite one.
   */
  function computeRowError(
    options: RingAttentionOptions,
    width: number,
    i: number,
    isThere: (j: number) => boolean,
  ): number {
    const { topology, direction, combine, self, decay, temperature } = options;
    const exact = { sum: 0, mass: 0 };
    const banded = { sum: 0, mass: 0 };
    for (let j = 0; j < TURNS; j++) {
      if (!isThere(j) || (self === 'exclude' && j === i) || (direction === 'causal' && j > i)) continue;
      if (direction === 'anticausal' && j < i) continue;
      const steps = Math.abs(i - j);
      const distance = topology === 'ring' ? Math.min(steps, TURNS - steps) : steps;
      const isNear = distance <= width;
      const semantic = isNear ? 0 : 1;
      const power = Math.exp(
        combine === 'multiplicative'
          ? (Math.exp(-decay * distance) * semantic) / temperature
          : semantic / temperature - decay * distance,
      );
      const kept = isNear ? power : combine === 'multiplicative' ? 1 : 0;
      for (const [row, weight] of [[exact, power] as const, [banded, kept] as const]) {
        row.sum += isNear ? weight : -weight;
        row.mass += weight;
      }
    }
    return exact.mass === 0 ? 0 : Math.abs(exact.sum / exact.mass - banded.sum / banded.mass);
  }

  function findWorstBandError(options: RingAttentionOptions, width: number): number {
    return Math.max(...Array.from({ length: TURNS }, (_, i) => computeRowError(options, width, i, () => true)));
  }

  test.each(COMBINATIONS)('%s', (_, choice) => {
    let [compared, nearest] = [0, 0];
    for (const decay of [0, 0.1, 0.5, 2])
      for (const temperature of [0.05, 0.3, 2])
        for (const width of [1, 2, 5, 13, 37, 49, 50, 100]) {
          const options = { ...choice, decay, temperature };
          const [bound, error] = [computeBandError(TURNS, width, options), findWorstBandError(options, width)];
          expect(error).toBeLessThanOrEqual(bound * (1 + 1e-9) + 1e-15);
          if (bound < 1e-12) continue;
          compared++;
          nearest = Math.max(nearest, error / bound);
        }
    expect(compared).toBeGreaterThan(30);
    expect(nearest).toBeGreaterThan(0.4); // a bound that never comes close would ask for too wide a band
  });

  test.each([
    ['none', 'include', TURNS],
    ['none', 'exclude', TURNS - 1],
    ['causal', 'include', 7],
    ['anticausal', 'include', 7],
    ['causal', 'exclude', 6],
  ] as const)(
    'is bounded by twice the far mass over the keys that a row is sure to see: %s, self %s',
    (direction, self, keys) => {
      const options = { ...RING_ATTENTION_DEFAULTS, direction, self, decay: 0.5, temperature: 2 };
      const logit = Math.exp(-0.5 * 6) / 2; // beyond W = 5
      const mass = (2 * (Math.exp(logit) - 1)) / (1 - Math.exp(-0.5));
      expect(computeBandError(TURNS, 5, options)).toBeCloseTo((2 * mass) / keys, 14);
    },
  );

  /**
   * The query's position, and those of the keys of which the mask leaves none but one near it and the rest right beyond
   * the band.
   */
  const MIDDLE = 50;
  function countKeysLeft(
    keys: number,
    nearest: number,
    width: number,
    { direction }: RingAttentionOptions,
  ): Set<number> {
    const steps = Array.from({ length: keys - 1 }, (_, k) =>
      direction === 'none' ? (width + 1 + (k >> 1)) * (k % 2 === 0 ? 1 : -1) : width + 1 + k,
    );
    const way = direction === 'causal' ? -1 : 1;
    return new Set([nearest, ...steps].map((step) => MIDDLE + way * step));
  }

  test.each(COMBINATIONS)('where few keys are left: %s', (_, choice) => {
    let closest = 0;
    for (const decay of [0.1, 0.5, 2])
      for (const temperature of [0.05, 0.3, 2])
        for (const width of [2, 5, 13, 37])
          for (const keys of [2, 3, 7])
            for (const nearest of [1, 2]) {
              const options = { ...choice, decay, temperature };
              const left = countKeysLeft(keys, nearest, width, options);
              const bound = computeBandError(TURNS, width, options, { keys, nearest });
              const error = computeRowError(options, width, MIDDLE, (j) => left.has(j));
              expect(error).toBeLessThanOrEqual(bound * (1 + 1e-9) + 1e-15);
              if (bound >= 1e-12) closest = Math.max(closest, error / bound);
            }
    expect(closest).toBeGreaterThan(0.4);
  });

  test.each(COMBINATIONS)('the least width is enough, one less is not: %s', (_, choice) => {
    for (const tolerance of [1e-2, 1e-4, 1e-6]) {
      const options = { ...choice, decay: 0.7, temperature: 0.2 };
      const width = findLeastBandWidth(1009, tolerance, options);
      expect(computeBandError(1009, width, options)).toBeLessThanOrEqual(tolerance);
      expect(computeBandError(1009, width - 1, options)).toBeGreaterThan(tolerance);
      expect(width).toBeLessThanOrEqual(computeBandWidth(options, tolerance / 2));
    }
  });

  test('more turns need a narrower band where all of them are seen, since each far one weighs less', () => {
    const widths = [1009, 16411, 262147].map((turns) => findLeastBandWidth(turns, 1e-6, RING_ATTENTION_DEFAULTS));
    expect(widths).toEqual([23, 17, 11]);
  });

  test('nothing but all of them is enough where they do not fade, or where no error is allowed', () => {
    const options = { ...RING_ATTENTION_DEFAULTS, decay: 0 };
    expect(findLeastBandWidth(101, 1e-3, options)).toBe(50);
    expect(findLeastBandWidth(101, 1e-3, { ...options, topology: 'line' })).toBe(100);
    expect(findLeastBandWidth(101, 0, RING_ATTENTION_DEFAULTS)).toBe(50);
    expect(findLeastBandWidth(1, 0, RING_ATTENTION_DEFAULTS)).toBe(1);
    expect(() => findLeastBandWidth(101, -0.5, RING_ATTENTION_DEFAULTS)).toThrow('tolerance is negative: -0.5');
  });
});

function buildMaskedRows(turns: number, queryPositions: number[], keyMask: number[]) {
  const keys = new Float32Array(turns).fill(1);
  const queries = new Float32Array(queryPositions.length).fill(1);
  return checkRows({
    turns,
    queries,
    keys,
    values: keys,
    queryRingPositions: Int32Array.from(queryPositions),
    keyMask: Uint8Array.from(keyMask),
  });
}

test('where no key is masked there is nothing to say', () => {
  const keys = new Float32Array(5);
  const rows = checkRows({ turns: 5, queries: keys, keys, values: keys });
  expect(buildKeySupport(rows, RING_ATTENTION_DEFAULTS)).toBeUndefined();
});

test('by hand: the way round a ring may be the shorter one', () => {
  const rows = buildMaskedRows(11, [9], [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  expect(buildKeySupport(rows, RING_ATTENTION_DEFAULTS)).toEqual({ keys: 2, nearest: 2 });
  expect(buildKeySupport(rows, { ...RING_ATTENTION_DEFAULTS, topology: 'line' })).toEqual({ keys: 2, nearest: 5 });
  expect(buildKeySupport(rows, { ...RING_ATTENTION_DEFAULTS, direction: 'anticausal' })).toEqual({
    keys: 2,
    nearest: 1,
  });
});

test.each(COMBINATIONS)('the nearest key of the loneliest query: %s', (_, options) => {
  const { topology, direction, self } = options;
  const inputs = fc
    .integer({ min: 1, max: 23 })
    .chain((turns) =>
      fc.tuple(
        fc.constant(turns),
        fc.array(fc.nat(turns - 1), { maxLength: 5 }),
        fc.array(fc.constantFrom(0, 0, 0, 1), { minLength: turns, maxLength: turns }),
      ),
    );
  fc.assert(
    fc.property(inputs, ([turns, positions, mask]) => {
      let expected = 1;
      for (const i of positions) {
        const steps = mask.flatMap((isSeen, j) => {
          if (isSeen === 0 || (self === 'exclude' && j === i)) return [];
          if ((direction === 'causal' && j > i) || (direction === 'anticausal' && j < i)) return [];
          const along = Math.abs(i - j);
          return [topology === 'ring' ? Math.min(along, turns - along) : along];
        });
        if (steps.length > 0) expected = Math.max(expected, Math.min(...steps));
      }
      const keys = mask.filter((isSeen) => isSeen === 1).length;
      expect(buildKeySupport(buildMaskedRows(turns, positions, mask), options)).toEqual({ keys, nearest: expected });
    }),
    { seed: 7, numRuns: 211 },
  );
});
