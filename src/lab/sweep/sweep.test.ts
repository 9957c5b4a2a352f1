import { describe, expect, test } from 'vitest';
import { expandArms } from '../composition/arms.ts';
import type { Plain } from '../composition/config-file.ts';
import { expandSweep } from './sweep.ts';

const { arms } = expandArms(
  [
    { name: 'plain', candidates: [{ index: 'bm25', k1: 1 }], decay: null },
    { name: 'start', extends: 'plain', trajectory: { weight: 0.3, sigma: 1 }, tune: { 'trajectory.sigma': [1, 2] } },
  ],
  { sameChannel: true },
);
const expandSampleSweep = (sweep: object, seed = 3) => expandSweep({ arm: 'start', ...sweep }, arms, seed);
const expandSweptOptions = (...given: Parameters<typeof expandSampleSweep>) =>
  expandSampleSweep(...given).arms.map((arm) => arm.options as Plain);
const listSweptNames = (...given: Parameters<typeof expandSampleSweep>) =>
  expandSweptOptions(...given).map(({ name }) => name);
const listSweepFaults = (sweep: object) =>
  expandSampleSweep(sweep).faults.map(({ path, expected, got }) => `${path}: expected ${expected}, got ${got}`);

const weights = { 'trajectory.weight': [0.1, 0.5], k1: { path: 'candidates.0.k1', values: [1, 2, 3] } };

describe('a grid', () => {
  test('is every combination, the last factor changing fastest', () => {
    expect(listSweptNames({ method: 'grid', factors: weights })).toEqual([
      'start | trajectory.weight=0.1, k1=1',
      'start | trajectory.weight=0.1, k1=2',
      'start | trajectory.weight=0.1, k1=3',
      'start | trajectory.weight=0.5, k1=1',
      'start | trajectory.weight=0.5, k1=2',
      'start | trajectory.weight=0.5, k1=3',
    ]);
    expect(expandSampleSweep({ method: 'grid', factors: weights }).design).toEqual({
      method: 'grid',
      arm: 'start',
      factors: [
        { name: 'trajectory.weight', levels: ['0.1', '0.5'] },
        { name: 'k1', levels: ['1', '2', '3'] },
      ],
    });
  });

  test('has arms that extend the one it starts from, without what is its own', () => {
    expect(expandSweptOptions({ method: 'grid', factors: weights })[4]).toEqual({
      name: 'start | trajectory.weight=0.5, k1=2',
      extends: 'start',
      levels: { 'trajectory.weight': '0.5', k1: '2' },
      differences: ['trajectory.weight', 'candidates.0.k1'],
      candidates: [{ index: 'bm25', k1: 2 }],
      decay: null,
      sameChannel: true,
      trajectory: { weight: 0.5, sigma: 1 },
    });
    expect(arms[1]?.options).toMatchObject({ candidates: [{ k1: 1 }], trajectory: { weight: 0.3 } });
  });

  test('is the same as factorial, which asks for two factors', () => {
    expect(listSweptNames({ method: 'factorial', factors: weights })).toEqual(
      listSweptNames({ method: 'grid', factors: weights }),
    );
    expect(listSweepFaults({ method: 'factorial', factors: { sameChannel: [true] } })).toEqual([
      'sweep.factors: expected two factors or more, to interact, got 1',
    ]);
  });
});

test('one factor at a time', () => {
  const fading = {
    slow: { decay: { halfLifeHours: 96 }, tune: { 'decay.halfLifeHours': [1] } },
    none: { decay: null },
  };
  const options = expandSweptOptions({ method: 'one-factor', factors: { fading, 'trajectory.weight': [0] } });
  expect(options.map(({ name }) => name)).toEqual([
    'start | fading=slow',
    'start | fading=none',
    'start | trajectory.weight=0',
  ]);
  expect(options[0]).toMatchObject({
    decay: { halfLifeHours: 96 },
    tune: { 'decay.halfLifeHours': [1] },
    levels: { fading: 'slow' },
    differences: ['decay.halfLifeHours'],
    trajectory: { weight: 0.3 },
  });
  expect(options[2]).toMatchObject({ decay: null, trajectory: { weight: 0, sigma: 1 } });
  expect(options[2]).not.toHaveProperty('tune');
});

describe('at random', () => {
  const factors = {
    'trajectory.weight': { low: 0, high: 1 },
    k1: { path: 'candidates.0.k1', values: [1, 2, 3] },
    'trajectory.sigma': { low: 0.1, high: 10, scale: 'log' },
  };
  const sweep = { method: 'random', factors, samples: 29 };

  test('gives the points of the seed, again and again', () => {
    expect(listSweptNames(sweep)).toEqual(listSweptNames(sweep));
    expect(listSweptNames({ ...sweep, seed: 3 }, 99)).toEqual(listSweptNames(sweep, 3));
    expect(listSweptNames(sweep, 4)).not.toEqual(listSweptNames(sweep, 3));
    expect(new Set(listSweptNames(sweep)).size).toBe(29);
    for (const { name, trajectory, candidates } of expandSweptOptions(sweep) as {
      name: string;
      trajectory: { weight: number; sigma: number };
      candidates: { k1: number }[];
    }[])
      expect(name).toBe(
        `start | trajectory.weight=${trajectory.weight}, k1=${candidates[0]?.k1}, trajectory.sigma=${trajectory.sigma}`,
      );
  });

  test('more points begin with the fewer', () => {
    expect(listSweptNames({ ...sweep, samples: 31 }).slice(0, 29)).toEqual(listSweptNames(sweep));
  });

  test('another factor does not move the levels of the first ones', () => {
    const more = expandSweptOptions({ ...sweep, factors: { ...factors, sameChannel: [true, false] } });
    const listLevels = (options: readonly Plain[]) => options.map((arm) => (arm.levels as Plain)['trajectory.weight']);
    expect(listLevels(more)).toEqual(listLevels(expandSweptOptions(sweep)));
  });

  test('levels of an interval are listed in the order of their size', () => {
    const [weight, k1] = expandSampleSweep(sweep).design?.factors ?? [];
    expect(weight?.levels).toHaveLength(29);
    expect(weight?.levels).toEqual(weight?.levels.toSorted((a, b) => Number(a) - Number(b)));
    expect(k1?.levels).toEqual(['1', '2', '3']);
  });

  test('every point of a space that is no larger is met once', () => {
    const whole = { k1: [1, 2, 3], 'trajectory.sigma': { low: 1, high: 5, integer: true } };
    const names = listSweptNames({ method: 'random', samples: 15, factors: { ...whole, k1: factors.k1 } });
    expect(new Set(names).size).toBe(15);
    expect(listSweepFaults({ method: 'random', samples: 16, factors: { ...whole, k1: factors.k1 } })).toEqual([
      'sweep.samples: expected at most 15, the number of combinations, got 16',
    ]);
  });

  test('an interval too narrow for the number of points is an error', () => {
    const narrow = { 'trajectory.weight': { low: 0.11111, high: 0.11134 } };
    expect(listSweepFaults({ method: 'random', samples: 7, factors: narrow })).toEqual([
      expect.stringMatching(/^sweep\.samples: expected at most about [345] different points, got 7$/),
    ]);
  });
});

describe('an error is reported for', () => {
  const grid = { method: 'grid', factors: weights };
  test.each([
    [
      'an unknown key',
      { ...grid, samples: 3 },
      'sweep.samples: expected one of method, arm, factors, limit, got unknown key "samples"',
    ],
    ['an unknown arm', { ...grid, arm: 'strat' }, 'sweep.arm: expected an arm (plain, start), got "strat"'],
    ['no factor', { ...grid, factors: {} }, 'sweep.factors: expected at least one factor, got {}'],
    [
      'a path that leads nowhere',
      { ...grid, factors: { 'candidates.7.k': [1] } },
      'sweep.factors.candidates.7.k: expected a path to an option of the arm, got "candidates.7.k"',
    ],
    [
      'a path that is no option',
      { ...grid, factors: { x: { path: 'name', values: ['y'] } } },
      'sweep.factors.x: expected a path to an option of the arm, got "name"',
    ],
    [
      'an interval in a grid',
      { ...grid, factors: { 'trajectory.weight': { low: 0, high: 1 } } },
      'sweep.factors.trajectory.weight: expected a list of values or levels by name, since only method random draws from an interval, got grid',
    ],
    [
      'more arms than the limit',
      { ...grid, limit: 5 },
      'sweep.limit: expected a number of arms as large as the sweep, 6, got 5',
    ],
  ])('%s', (_, sweep, fault) => {
    expect(listSweepFaults(sweep)).toEqual([fault]);
    expect(expandSampleSweep(sweep).arms).toEqual([]);
  });

  test('more than a thousand arms, before any is made', () => {
    const factor = { 'trajectory.weight': Array.from({ length: 37 }, (_, i) => i / 37) };
    const factors = { ...factor, k1: { path: 'candidates.0.k1', values: [1, 2, 3] }, sameChannel: [true, false] };
    const huge = { ...factors, b: { path: 'candidates.0.b', values: Array.from({ length: 31 }, (_, i) => i / 31) } };
    expect(expandSampleSweep({ method: 'grid', factors }).arms).toHaveLength(222);
    expect(listSweepFaults({ method: 'grid', factors: huge })).toEqual([
      'sweep.limit: expected a number of arms as large as the sweep, 6882, got 1000',
    ]);
    expect(expandSampleSweep({ method: 'grid', factors: huge, limit: 7000 }).arms).toHaveLength(6882);
    expect(expandSampleSweep({ method: 'one-factor', factors: huge }).arms).toHaveLength(73);
  });
});

test('a sweep that is written out already adds nothing', () => {
  const { design } = expandSampleSweep({ method: 'grid', factors: weights });
  expect(expandSweep(design, arms, 3)).toEqual({ arms: [], probes: [], design, faults: [] });
  expect(expandSweep(null, arms, 3).design).toBeNull();
});

test('each level of an invalid sweep, and the ends of intervals, can be checked', () => {
  const listProbes = (sweep: object) => expandSampleSweep(sweep).probes.map((arm) => (arm.options as Plain).name);
  expect(listProbes({ method: 'grid', factors: { ...weights, x: 3 } })).toEqual([
    'start | trajectory.weight=0.1',
    'start | trajectory.weight=0.5',
    'start | k1=1',
    'start | k1=2',
    'start | k1=3',
  ]);
  const random = { method: 'random', samples: 2, factors: { 'trajectory.weight': { low: 0, high: 1 } } };
  expect(listProbes(random)).toEqual(['start | trajectory.weight=0', 'start | trajectory.weight=1']);
});
