import { describe, expect, test } from 'vitest';
import type { Plain } from '../composition/config-file.ts';
import { expandNamedArms } from '../composition/named-arms.ts';
import { expandSweep } from './sweep.ts';

const { arms } = expandNamedArms(
  {
    plain: [{ search: { bm25: { k1: 1 } } }],
    start: {
      from: 'plain',
      then: [{ blend: { trajectory: { weight: 0.3, sigma: 1 } } }],
      tune: { 'blend.trajectory.sigma': [1, 2] },
    },
  },
  { seed: 5 },
);
const expandSampleSweep = (sweep: object, seed = 3) => expandSweep({ arm: 'start', ...sweep }, arms, seed);
const expandSweptOptions = (...given: Parameters<typeof expandSampleSweep>) =>
  expandSampleSweep(...given).arms.map((arm) => arm.options as Plain);
const listSweptNames = (...given: Parameters<typeof expandSampleSweep>) =>
  expandSweptOptions(...given).map(({ name }) => name);
const listSweepFaults = (sweep: object) =>
  expandSampleSweep(sweep).faults.map(({ path, expected, got }) => `${path}: expected ${expected}, got ${got}`);

const weights = { 'blend.trajectory.weight': [0.1, 0.5], k1: { path: 'bm25.k1', values: [1, 2, 3] } };

describe('a grid', () => {
  test('is every combination, the last factor changing fastest', () => {
    expect(listSweptNames({ method: 'grid', factors: weights })).toEqual([
      'start | blend.trajectory.weight=0.1, k1=1',
      'start | blend.trajectory.weight=0.1, k1=2',
      'start | blend.trajectory.weight=0.1, k1=3',
      'start | blend.trajectory.weight=0.5, k1=1',
      'start | blend.trajectory.weight=0.5, k1=2',
      'start | blend.trajectory.weight=0.5, k1=3',
    ]);
    expect(expandSampleSweep({ method: 'grid', factors: weights }).design).toEqual({
      method: 'grid',
      arm: 'start',
      factors: [
        { name: 'blend.trajectory.weight', levels: ['0.1', '0.5'] },
        { name: 'k1', levels: ['1', '2', '3'] },
      ],
    });
  });

  test('has arms that extend the one it starts from, without what is its own', () => {
    expect(expandSweptOptions({ method: 'grid', factors: weights })[4]).toEqual({
      name: 'start | blend.trajectory.weight=0.5, k1=2',
      extends: 'start',
      levels: { 'blend.trajectory.weight': '0.5', k1: '2' },
      differences: ['blend.trajectory.weight', 'search.bm25.k1'],
      steps: ['search', 'blend'],
      search: { bm25: { k1: 2 } },
      blend: { trajectory: { weight: 0.5, sigma: 1 } },
      seed: 5,
    });
    expect(arms[1]?.options).toMatchObject({
      search: { bm25: { k1: 1 } },
      blend: { trajectory: { weight: 0.3 } },
    });
  });

  test('is the same as factorial, which asks for two factors', () => {
    expect(listSweptNames({ method: 'factorial', factors: weights })).toEqual(
      listSweptNames({ method: 'grid', factors: weights }),
    );
    expect(listSweepFaults({ method: 'factorial', factors: { seed: [1] } })).toEqual([
      'sweep.factors: expected two factors or more, to interact, got 1',
    ]);
  });
});

test('one factor at a time', () => {
  const fading = {
    slow: { decay: { halfLifeHours: 96 }, tune: { 'decay.halfLifeHours': [1] } },
    none: { decay: null },
  };
  const options = expandSweptOptions({ method: 'one-factor', factors: { fading, 'blend.trajectory.weight': [0] } });
  expect(options.map(({ name }) => name)).toEqual([
    'start | fading=slow',
    'start | fading=none',
    'start | blend.trajectory.weight=0',
  ]);
  expect(options[0]).toMatchObject({
    decay: { halfLifeHours: 96 },
    tune: { 'decay.halfLifeHours': [1] },
    levels: { fading: 'slow' },
    differences: ['decay.halfLifeHours'],
    steps: ['search', 'decay', 'blend'],
    blend: { trajectory: { weight: 0.3 } },
  });
  expect(options[1]).toMatchObject({ steps: ['search', 'blend'] });
  expect(options[2]).toMatchObject({ steps: ['search', 'blend'], blend: { trajectory: { weight: 0, sigma: 1 } } });
  expect(options[2]).not.toHaveProperty('tune');
});

describe('at random', () => {
  const factors = {
    'blend.trajectory.weight': { low: 0, high: 1 },
    k1: { path: 'bm25.k1', values: [1, 2, 3] },
    'blend.trajectory.sigma': { low: 0.1, high: 10, scale: 'log' },
  };
  const sweep = { method: 'random', factors, samples: 29 };

  test('gives the points of the seed, again and again', () => {
    expect(listSweptNames(sweep)).toEqual(listSweptNames(sweep));
    expect(listSweptNames({ ...sweep, seed: 3 }, 99)).toEqual(listSweptNames(sweep, 3));
    expect(listSweptNames(sweep, 4)).not.toEqual(listSweptNames(sweep, 3));
    expect(new Set(listSweptNames(sweep)).size).toBe(29);
    for (const { name, blend, search } of expandSweptOptions(sweep) as {
      name: string;
      blend: { trajectory: { weight: number; sigma: number } };
      search: { bm25: { k1: number } };
    }[]) {
      const { weight, sigma } = blend.trajectory;
      expect(name).toBe(
        `start | blend.trajectory.weight=${weight}, k1=${search.bm25.k1}, blend.trajectory.sigma=${sigma}`,
      );
    }
  });

  test('more points begin with the fewer', () => {
    expect(listSweptNames({ ...sweep, samples: 31 }).slice(0, 29)).toEqual(listSweptNames(sweep));
  });

  test('another factor does not move the levels of the first ones', () => {
    const more = expandSweptOptions({ ...sweep, factors: { ...factors, seed: [1, 2] } });
    const listLevels = (options: readonly Plain[]) =>
      options.map((arm) => (arm.levels as Plain)['blend.trajectory.weight']);
    expect(listLevels(more)).toEqual(listLevels(expandSweptOptions(sweep)));
  });

  test('levels of an interval are listed in the order of their size', () => {
    const [weight, k1] = expandSampleSweep(sweep).design?.factors ?? [];
    expect(weight?.levels).toHaveLength(29);
    expect(weight?.levels).toEqual(weight?.levels.toSorted((a, b) => Number(a) - Number(b)));
    expect(k1?.levels).toEqual(['1', '2', '3']);
  });

  test('every point of a space that is no larger is met once', () => {
    const whole = { k1: [1, 2, 3], 'blend.trajectory.sigma': { low: 1, high: 5, integer: true } };
    const names = listSweptNames({ method: 'random', samples: 15, factors: { ...whole, k1: factors.k1 } });
    expect(new Set(names).size).toBe(15);
    expect(listSweepFaults({ method: 'random', samples: 16, factors: { ...whole, k1: factors.k1 } })).toEqual([
      'sweep.samples: expected at most 15, the number of combinations, got 16',
    ]);
  });

  test('an interval too narrow for the number of points is an error', () => {
    const narrow = { 'blend.trajectory.weight': { low: 0.11111, high: 0.11134 } };
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
      { ...grid, factors: { 'hnsw.k': [1] } },
      'sweep.factors.hnsw.k: expected a path to an option of the arm, got "hnsw.k"',
    ],
    [
      'a path that another has the place of',
      { ...grid, factors: { 'candidates.0.k': [1] } },
      'sweep.factors.candidates.0.k: expected a path to an option of the arm; search, as in search: { bm25: {} }, got "candidates.0.k"',
    ],
    [
      'a key of a level that another has the place of',
      { ...grid, factors: { x: { a: { attention: { mechanism: 'rcp' } } } } },
      'sweep.factors.x.a.attention: expected blend, as in blend: { rcp: { weight: 0.2 } }, got "attention"',
    ],
    [
      'a path that is no option',
      { ...grid, factors: { x: { path: 'name', values: ['y'] } } },
      'sweep.factors.x: expected a path to an option of the arm, got "name"',
    ],
    [
      'an interval in a grid',
      { ...grid, factors: { 'blend.trajectory.weight': { low: 0, high: 1 } } },
      'sweep.factors.blend.trajectory.weight: expected a list of values or levels by name, since only method random draws from an interval, got grid',
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
    const factor = { 'blend.trajectory.weight': Array.from({ length: 37 }, (_, i) => i / 37) };
    const factors = { ...factor, k1: { path: 'bm25.k1', values: [1, 2, 3] }, seed: [1, 2] };
    const huge = { ...factors, b: { path: 'bm25.b', values: Array.from({ length: 31 }, (_, i) => i / 31) } };
    expect(expandSampleSweep({ method: 'grid', factors }).arms).toHaveLength(222);
    expect(listSweepFaults({ method: 'grid', factors: huge })).toEqual([
      'sweep.limit: expected a number of arms as large as the sweep, 6882, got 1000',
    ]);
    expect(expandSampleSweep({ method: 'grid', factors: huge, limit: 7000 }).arms).toHaveLength(6882);
    expect(expandSampleSweep({ method: 'one-factor', factors: huge }).arms).toHaveLength(73);
  });
});

test('levels have short forms, paths to tune that begin with sources, and steps where those of their kind stand', () => {
  const factors = {
    how: {
      fading: { decay: 24, tune: { 'bm25.k1': [1, 2] } },
      few: { select: { mmr: { k: 5 } } },
      placed: { filter: 'channel = "a"', blend: { rcp: 0.1 } },
    },
    'bm25.k': [7],
  };
  const [fading, few, placed] = expandSweptOptions({ method: 'grid', factors });
  expect(fading).toMatchObject({
    steps: ['search', 'decay', 'blend'],
    decay: { halfLifeHours: 24 },
    tune: { 'search.bm25.k1': [1, 2] },
    search: { bm25: { k: 7 } },
  });
  expect(few).toMatchObject({ steps: ['search', 'blend', 'select'] });
  expect(placed).toMatchObject({
    steps: ['filter', 'search', 'blend'],
    blend: { trajectory: { weight: 0.3 }, rcp: { weight: 0.1 } },
  });
});

test('a sweep that is written out already adds nothing', () => {
  const { design } = expandSampleSweep({ method: 'grid', factors: weights });
  expect(expandSweep(design, arms, 3)).toEqual({ arms: [], probes: [], design, faults: [] });
});

test('each level of an invalid sweep, and the ends of intervals, can be checked', () => {
  const listProbes = (sweep: object) => expandSampleSweep(sweep).probes.map((arm) => (arm.options as Plain).name);
  expect(listProbes({ method: 'grid', factors: { ...weights, x: 3 } })).toEqual([
    'start | blend.trajectory.weight=0.1',
    'start | blend.trajectory.weight=0.5',
    'start | k1=1',
    'start | k1=2',
    'start | k1=3',
  ]);
  const random = { method: 'random', samples: 2, factors: { 'blend.trajectory.weight': { low: 0, high: 1 } } };
  expect(listProbes(random)).toEqual(['start | blend.trajectory.weight=0', 'start | blend.trajectory.weight=1']);
});
