import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { countLevels, drawLevel, type Factor, findLevelFaults, listIntervalEnds, readFactor } from './sweep-factors.ts';

function readValidFactor(name: string, raw: unknown): Factor {
  const read = readFactor(name, raw);
  if ('faults' in read) throw new Error(read.faults.map(({ path, expected }) => `${path}: ${expected}`).join('\n'));
  return read.factor;
}

/** `name: path within the arm = content` of every level. */
function describeLevels(name: string, raw: unknown): string[] {
  return readValidFactor(name, raw).levels.map(
    ({ name: level, layer: { at, content } }) => `${level}: ${at.join('.')} = ${JSON.stringify(content)}`,
  );
}

describe('the levels of', () => {
  test('a list of values have the path of the factor', () => {
    expect(describeLevels('blend.trajectory.weight', [0, 0.3])).toEqual([
      '0: blend.trajectory.weight = 0',
      '0.3: blend.trajectory.weight = 0.3',
    ]);
    expect(describeLevels('mix.signals.groups', [['text', 'time'], ['text']])).toEqual([
      'text+time: mix.signals.groups = ["text","time"]',
      'text: mix.signals.groups = ["text"]',
    ]);
    expect(describeLevels('decay', [null, true, 'x', []])).toEqual([
      'none: decay = null',
      'true: decay = true',
      'x: decay = "x"',
      'none: decay = []',
    ]);
  });

  test('a list with a path beside it have that', () => {
    expect(describeLevels('m', { path: 'hnsw.m', values: [4] })).toEqual(['4: hnsw.m = 4']);
    expect(describeLevels('blend.trajectory.weight', { values: [1] })).toEqual(['1: blend.trajectory.weight = 1']);
  });

  test('parts of an arm by name are laid over the whole', () => {
    const raw = { low: { decay: { halfLifeHours: 6 } }, none: { decay: null } };
    expect(describeLevels('fading', raw)).toEqual(['low:  = {"decay":{"halfLifeHours":6}}', 'none:  = {"decay":null}']);
  });
});

describe('an error is reported for', () => {
  test.each([
    ['nothing at all', null, ['sweep.factors.f: a list of values, an interval from low to high, or levels by name']],
    ['no value', [], ['sweep.factors.f: array >= 1']],
    [
      'values that have no name',
      [{ index: 'flat' }],
      ['sweep.factors.f[0]: string or number or boolean or null or array'],
    ],
    ['no level', {}, ['sweep.factors.f: at least one level']],
    ['a level that is no part of an arm', { a: 1 }, ['sweep.factors.f.a: record']],
    ['an interval that is empty', { low: 2, high: 2 }, ['sweep.factors.f.high: more than low']],
    ['an interval without an end', { low: 2 }, ['sweep.factors.f.high: number']],
    [
      'logarithms of 0',
      { low: 0, high: 1, scale: 'log' },
      ['sweep.factors.f.low: more than 0 on a scale of logarithms'],
    ],
    [
      'parts of whole numbers',
      { low: 0.5, high: 1.5, integer: true },
      [
        'sweep.factors.f.low: a whole number, as the values are',
        'sweep.factors.f.high: a whole number, as the values are',
      ],
    ],
    ['an unknown key', { values: [1], paht: 'x' }, ['sweep.factors.f.paht: one of path, values']],
  ])('%s', (_, raw, faults) => {
    const read = readFactor('f', raw);
    expect('faults' in read && read.faults.map(({ path, expected }) => `${path}: ${expected}`)).toEqual(faults);
  });

  test('levels of one name, and keys that the sweep itself writes', () => {
    expect(findLevelFaults(readValidFactor('f', [1, 2, '1']))).toEqual([
      { path: 'sweep.factors.f', expected: 'levels that differ', got: '"1" twice' },
    ]);
    const named = readValidFactor('f', { a: { name: 'x', decay: null, tune: {} }, b: { extends: 'y' } });
    expect(findLevelFaults(named).map(({ path }) => path)).toEqual([
      'sweep.factors.f.a.name',
      'sweep.factors.f.b.extends',
    ]);
  });
});

/** Numbers drawn from an interval. */
function drawNumbers(raw: object, count: number): number[] {
  const factor = readValidFactor('x', raw);
  const stream = createRandom(11, 'test');
  return Array.from({ length: count }, () => drawLevel(factor, stream).layer.content as number);
}

/** The share of numbers below a limit. */
const measureShareBelow = (numbers: readonly number[], limit: number) =>
  numbers.filter((number) => number < limit).length / numbers.length;

describe('a draw from', () => {
  test('a linear interval has half of its numbers below the middle', () => {
    const numbers = drawNumbers({ low: 2, high: 6 }, 4001);
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(2);
    expect(Math.max(...numbers)).toBeLessThanOrEqual(6);
    expect(measureShareBelow(numbers, 4)).toBeCloseTo(0.5, 1);
    expect(measureShareBelow(numbers, 3)).toBeCloseTo(0.25, 1);
  });

  test('an interval of logarithms has half of them below the geometric mean', () => {
    const numbers = drawNumbers({ low: 0.01, high: 100, scale: 'log' }, 4001);
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0.01);
    expect(Math.max(...numbers)).toBeLessThanOrEqual(100);
    expect(measureShareBelow(numbers, 1)).toBeCloseTo(0.5, 1);
    expect(measureShareBelow(numbers, 0.1)).toBeCloseTo(0.25, 1);
  });

  test.each(['linear', 'log'])('whole numbers (%s) meets both ends', (scale) => {
    const numbers = drawNumbers({ low: 3, high: 7, integer: true, scale }, 4001);
    const counts = [3, 4, 5, 6, 7].map((number) => numbers.filter((drawn) => drawn === number).length / numbers.length);
    expect(counts.reduce((sum, count) => sum + count)).toBeCloseTo(1, 9);
    const expected = [3, 4, 5, 6, 7].map((n) => (scale === 'log' ? Math.log((n + 1) / n) / Math.log(8 / 3) : 1 / 5));
    for (const [i, count] of counts.entries()) expect(Math.abs(count - expected[i]!)).toBeLessThan(0.03);
  });

  test('an interval is a number with the digits of its name, never beyond an end', () => {
    const factor = readValidFactor('x', { low: 0.123456, high: 0.123489 });
    const stream = createRandom(5, 'test');
    for (let i = 0; i < 17; i++) {
      const { name, layer } = drawLevel(factor, stream);
      expect(Number(name)).toBe(layer.content);
      expect(layer.content).toBeGreaterThanOrEqual(0.123456);
      expect(layer.content).toBeLessThanOrEqual(0.123489);
    }
  });

  test('a list meets every value', () => {
    const factor = readValidFactor('x', ['a', 'b', 'c']);
    const stream = createRandom(5, 'test');
    const names = Array.from({ length: 61 }, () => drawLevel(factor, stream).name);
    expect(new Set(names)).toEqual(new Set(['a', 'b', 'c']));
  });
});

test('a factor has as many settings as levels, or whole numbers, or no end of them', () => {
  expect(countLevels(readValidFactor('f', [1, 2, 3]))).toBe(3);
  expect(countLevels(readValidFactor('f', { low: 3, high: 7, integer: true }))).toBe(5);
  expect(countLevels(readValidFactor('f', { low: 0, high: 1 }))).toBe(Number.POSITIVE_INFINITY);
});

test('the ends of an interval have their own places in the config', () => {
  const ends = listIntervalEnds(readValidFactor('k1', { path: 'bm25.k1', low: 1, high: 2 }));
  expect(ends.map(({ layer: { keyPath: place, at, content } }) => [place.join('.'), at.join('.'), content])).toEqual([
    ['sweep.factors.k1.low', 'bm25.k1', 1],
    ['sweep.factors.k1.high', 'bm25.k1', 2],
  ]);
  expect(listIntervalEnds(readValidFactor('f', [1]))).toEqual([]);
});
