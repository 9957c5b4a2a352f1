import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { parse } from '../../core/validation/validation.ts';
import { compareScored, type Scored } from '../../model/turns/tie-rule.ts';
import { FUSIONS, type FusionOptions, fuseColumns, fuseLists, fusionOptions, parseFusion } from './registry.ts';

const list = fc.uniqueArray(
  fc.record({ id: fc.integer({ min: 0, max: 16 }).map((i) => `d${i}`), score: fc.constantFrom(0, 0.25, 0.5, 0.75, 1) }),
  { selector: ({ id }) => id, minLength: 1, maxLength: 11 },
);

describe.each(FUSIONS.names)('%s', (method) => {
  const options = parse(fusionOptions, { method }, 'test');

  test('needs no option', () => {
    expect(options.method).toBe(method);
  });

  test('returns every candidate once, by the tie rule, whatever the order of the lists', () => {
    fc.assert(
      fc.property(list, list, (a, b) => {
        const fused = fuseLists({ a, b }, options);
        expect(fused.map(({ id }) => id).sort()).toEqual([...new Set([...a, ...b].map(({ id }) => id))].sort());
        expect(fused).toEqual(fused.toSorted(compareScored));
        expect(fused.every(({ score }) => Number.isFinite(score))).toBe(true);
        expect(fuseLists({ a: a.toReversed(), b: b.toReversed() }, options)).toEqual(fused);
      }),
    );
  });

  test('a candidate that is ahead in every source stays ahead', () => {
    const ahead: Scored[] = [
      { id: 'a', score: 0.9 },
      { id: 'z', score: 0.3 },
      { id: 'm', score: 0.1 },
    ];
    expect(fuseLists({ a: ahead, b: ahead }, options).map(({ id }) => id)).toEqual(['a', 'z', 'm']);
  });

  test('gives an empty ranking for empty lists', () => {
    expect(fuseLists({ a: [], b: [] }, options)).toEqual([]);
  });
});

test('equal scores rank by id descending within a source', () => {
  const options = parse(fusionOptions, { method: 'rrf' }, 'test');
  const equal = ['a', 'c', 'b'].map((id) => ({ id, score: 1 }));
  const fused = fuseLists({ equal }, options);
  expect(fused).toEqual([
    { id: 'c', score: 1 / 61 },
    { id: 'b', score: 1 / 62 },
    { id: 'a', score: 1 / 63 },
  ]);
});

test('an unknown method or option is refused with the nearest known one', () => {
  expect(() => fuseColumns({ a: Float64Array.of(1) }, { method: 'rff' } as unknown as FusionOptions)).toThrow(
    expect.objectContaining({ name: 'ValidationError', message: 'unknown fusion method: rff; use rrf' }),
  );
  expect(() => fuseColumns({ a: Float64Array.of(1) }, { method: 'toString' } as unknown as FusionOptions)).toThrow(
    'unknown fusion method',
  );
  expect(() => parse(fusionOptions, { method: 'convx' }, 'test')).toThrow(ConfigurationError);
  expect(() => parse(fusionOptions, { method: 'convex', alhpa: 0.5 }, 'test')).toThrow('did you mean alpha?');
});

test('names of ranx are accepted where a fusion is named by a program', () => {
  expect(parseFusion('mnz', 'test')).toEqual({ method: 'combmnz', normalisation: 'min-max' });
  expect(parseFusion({ method: 'gmnz', gamma: 1.5, normalisation: 'zmuv' }, 'test')).toEqual({
    method: 'combgmnz',
    normalisation: 'zmuv',
    gamma: 1.5,
  });
  expect(parseFusion('rrf', 'test')).toEqual({ method: 'rrf', k: 60, weights: {} });
  expect(() => parseFusion('condorcet', '--method')).toThrow(/--method/);
  expect(() => parseFusion({ method: 'sum', normalisation: 'minmax' }, 'test')).toThrow(/min-max/);
});

test('weights go by source, a source without one has 1, and an unknown source is refused', () => {
  const lists = { a: [{ id: 'x', score: 2 }], b: [{ id: 'x', score: 3 }] };
  for (const [method, score] of [
    ['wsum', 3],
    ['wmnz', 6],
    ['w_bordafuse', 3],
  ] as const) {
    const options = parseFusion({ method, weights: { b: 2 } }, 'test');
    expect(fuseLists(lists, options)).toEqual([{ id: 'x', score }]);
    expect(() => fuseLists(lists, parseFusion({ method, weights: { c: 2 } }, 'test'))).toThrow(
      'weight of an unknown source: c',
    );
  }
});

test('a candidate that no source returned scores 0 and is no candidate to Borda', () => {
  const columns = { a: Float64Array.of(2, Number.NaN, Number.NaN), b: Float64Array.of(Number.NaN, 5, Number.NaN) };
  for (const method of FUSIONS.names.filter((name) => name !== 'weighted'))
    expect(fuseColumns(columns, parseFusion(method, 'test'))[2]).toBe(0);
  expect([...fuseColumns(columns, parseFusion('bordafuse', 'test'))]).toEqual([2.5 + 0.5, 3, 0]);
});
