import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ConfigurationError } from '../errors/errors.ts';
import { check, findNearestWord, parse, shortenToExcerpt, suggestKnown, sumsToOne, withNearest } from './validation.ts';

const schema = z.strictObject({
  name: z.string(),
  count: z.number().int().min(1).default(3),
  source: z.discriminatedUnion('index', [
    z.strictObject({ index: z.literal('hnsw'), efSearch: z.number().default(128) }),
    z.strictObject({ index: z.literal('bm25'), k1: z.number().default(0.9) }),
  ]),
  arms: z.array(z.strictObject({ weight: z.number().optional() })).default([]),
  mode: z
    .strictObject({ direction: z.enum(['causal', 'anticausal']) })
    .nullable()
    .default(null),
});

function listCheckFaults(input: unknown) {
  const result = check(schema, input);
  return 'faults' in result ? result.faults : [];
}

test('every error is reported at once with path, expectation, finding and the nearest key', () => {
  const faults = listCheckFaults({
    nam: 'x',
    count: 0,
    source: { index: 'hnsw', efSerch: 5 },
    arms: [{ wieght: 2 }, { weight: 'heavy' }],
    mode: { direction: 'causl' },
  });
  expect(faults.map(({ path, got, nearest }) => [path, got, nearest])).toEqual([
    ['name', 'nothing', undefined],
    ['count', '0', undefined],
    ['source.efSerch', 'unknown key "efSerch"', 'efSearch'],
    ['arms[0].wieght', 'unknown key "wieght"', 'weight'],
    ['arms[1].weight', '"heavy"', undefined],
    ['mode.direction', '"causl"', 'causal'],
    ['nam', 'unknown key "nam"', 'name'],
  ]);
  expect(faults[1]?.expected).toBe('number >= 1');
  expect(faults[2]?.expected).toBe('one of index, efSearch');
});

test('an unknown discriminator names the choices', () => {
  const [fault] = listCheckFaults({ name: 'x', source: { index: 'hsnw' } });
  expect(fault).toEqual({ path: 'source.index', expected: '"hnsw" or "bm25"', got: '"hsnw"', nearest: 'hnsw' });
});

test('defaults are filled in', () => {
  expect(parse(schema, { name: 'x', source: { index: 'bm25' } }, 'test')).toEqual({
    name: 'x',
    count: 3,
    source: { index: 'bm25', k1: 0.9 },
    arms: [],
    mode: null,
  });
});

describe('a large wrong input', () => {
  const countItem = () => {
    const calls = { count: 0 };
    const item = z.custom<string>((value) => {
      calls.count++;
      return typeof value === 'string';
    }, 'a text');
    return { calls, list: z.strictObject({ items: z.array(item) }) };
  };

  test('is not read to its end', () => {
    const { calls, list } = countItem();
    expect(check(list, { items: Array(200_000).fill(1) })).toMatchObject({ faults: [{ path: 'items[0]' }] });
    expect(calls.count).toBe(1);
    expect(check(list, { items: [...Array(19_999).fill('a'), 1] })).toMatchObject({
      faults: [{ path: 'items[19999]', expected: 'a text', got: '1' }],
    });
  });

  test('has a few of its errors, and says that there are more', () => {
    const { list } = countItem();
    const wrong = { items: Array(300).fill(1) };
    expect(check(list, wrong)).toMatchObject({ faults: { length: 51 } });
    expect(() => parse(list, wrong, 'x')).toThrow(
      /^more than 50 errors in x.*\n( {2}items.*\n){50} {2}and more; fix these first$/,
    );
    const keys = Object.fromEntries(Array.from({ length: 4000 }, (_, i) => [`key${i}`, i]));
    expect(check(list, { ...keys, items: [] })).toMatchObject({ faults: { length: 51 } });
  });

  test('is shown without being written out', () => {
    const reads = { count: 0 };
    const handler: ProxyHandler<object> = {
      get(target, key) {
        reads.count++;
        return Reflect.get(target, key) as unknown;
      },
    };
    const part = new Proxy({ a: 1 }, handler);
    expect(shortenToExcerpt(new Proxy(Array(100_000).fill(part), handler))).toHaveLength(80);
    expect(reads.count).toBeLessThan(1000);
    expect(shortenToExcerpt(new Float32Array(1_000_000))).toHaveLength(80);
    expect(shortenToExcerpt('x'.repeat(1_000_000))).toHaveLength(80);
    const key = 'k'.repeat(100_000);
    expect(JSON.stringify(listCheckFaults({ [key]: 1, name: 'a', source: { index: 'bm25' } })).length).toBeLessThan(
      5000,
    );
  });

  test('is refused where a list, an object or a text has more than any file that is read', () => {
    const any = z.looseObject({});
    expect(check(any, { a: [0, Array(10_000_001)] })).toEqual({
      faults: [{ path: 'a[1]', expected: 'at most 10,000,000 items', got: '10,000,001' }],
    });
    expect(check(any, { a: 'x'.repeat(2 ** 27 + 1) })).toMatchObject({
      faults: [{ path: 'a', expected: 'at most 134,217,728 characters' }],
    });
  });
});

test('a parse failure is a ConfigurationError that names its source', () => {
  expect(() => parse(schema, {}, 'a.yaml')).toThrow(ConfigurationError);
  expect(() => parse(schema, {}, 'a.yaml')).toThrow(/2 errors in a\.yaml/);
});

const circular: Record<string, unknown> = { count: 3 };
circular.self = circular;
test.each([
  [9007199254740993n, '9007199254740993'],
  [[1, 2n], '[1,"2n"]'],
  [circular, '[object Object]'],
])('a value that JSON cannot write is found all the same: %#', (name, got) =>
  expect(listCheckFaults({ name, source: { index: 'bm25' } })).toMatchObject([{ path: 'name', got }]),
);

test.each([
  [[0.4, 0.61], true],
  [[0.7, 0.2, 0.09], true],
  [[0.4, 0.611], false],
  [[0.989], false],
  [[0.4, 0.6100001], false],
  [[], false],
])('whether %j sum to 1 within 0.01', (numbers, isSo) => expect(sumsToOne(numbers, 0.01)).toBe(isSo));

test('a word far from all known ones has no nearest', () => {
  expect(findNearestWord('zebra', ['halfLifeHours', 'weight'])).toBeUndefined();
});

test('the hint of a message is the nearest known word, or all of them', () => {
  expect(suggestKnown('halflifehours', ['halfLifeHours', 'weight'])).toBe('halfLifeHours');
  expect(suggestKnown('zebra', ['halfLifeHours', 'weight'])).toBe('one of halfLifeHours, weight');
});

test('a fault has the nearest known word only if one is near', () => {
  const fault = { path: '--stage', expected: 'a stage', got: '"x"' };
  expect(withNearest(fault, 'wieght', ['halfLifeHours', 'weight'])).toEqual({ ...fault, nearest: 'weight' });
  expect(withNearest(fault, 'zebra', ['halfLifeHours', 'weight'])).toBe(fault);
});
