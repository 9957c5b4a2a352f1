import fc from 'fast-check';
import { expect, test } from 'vitest';
import { COMBINATIONS } from './attention-options.cases.ts';
import { checkRows } from './attention-rows.ts';
import { buildKeySupport } from './key-support.ts';
import { RING_ATTENTION_DEFAULTS } from './options.ts';

function buildMaskedRows(turns: number, queryPlaces: number[], keyMask: number[]) {
  const keys = new Float32Array(turns).fill(1);
  const queries = new Float32Array(queryPlaces.length).fill(1);
  return checkRows({
    turns,
    queries,
    keys,
    values: keys,
    queryRingPositions: Int32Array.from(queryPlaces),
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
    fc.property(inputs, ([turns, places, mask]) => {
      let expected = 1;
      for (const i of places) {
        const steps = mask.flatMap((isSeen, j) => {
          if (isSeen === 0 || (self === 'exclude' && j === i)) return [];
          if ((direction === 'causal' && j > i) || (direction === 'anticausal' && j < i)) return [];
          const along = Math.abs(i - j);
          return [topology === 'ring' ? Math.min(along, turns - along) : along];
        });
        if (steps.length > 0) expected = Math.max(expected, Math.min(...steps));
      }
      const keys = mask.filter((isSeen) => isSeen === 1).length;
      expect(buildKeySupport(buildMaskedRows(turns, places, mask), options)).toEqual({ keys, nearest: expected });
    }),
    { seed: 7, numRuns: 211 },
  );
});
