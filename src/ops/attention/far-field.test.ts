import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { COMBINATIONS } from './attention-options.cases.ts';
import { checkRows } from './attention-rows.ts';
import { FarField } from './far-field.ts';
import { RING_ATTENTION_DEFAULTS } from './options.ts';

const [T, V] = [23, 3];
const source = createRandom(2, 'far-field.test');
const values = Float32Array.from({ length: T * V }, () => source.drawNormal());
const keyMask = Uint8Array.from({ length: T }, () => Number(source.integer(3) > 0));
/** Ascending, some twice, some not at all. */
const PLACES = [0, 0, 1, 4, 5, 5, 13, 21, 22, 22];

describe.each([
  ['all keys', undefined],
  ['masked keys', keyMask],
])('%s', (_, mask) => {
  test.each(COMBINATIONS.filter(([, { topology }]) => topology === 'ring'))('%s', (_, options) => {
    const shared = { turns: T, queries: values, keys: values, values };
    const rows = checkRows(mask === undefined ? shared : { ...shared, keyMask: mask });
    const field = new FarField(rows, options);
    for (const at of options.direction === 'anticausal' ? PLACES.toReversed() : PLACES) {
      field.moveTo(at);
      const seen = Array.from({ length: T }, (_, j) => j).filter((j) => {
        if (options.combine === 'additive' || mask?.[j] === 0) return false;
        if (options.self === 'exclude' && j === at) return false;
        return options.direction === 'none' || (options.direction === 'causal' ? j <= at : j >= at);
      });
      expect(field.count).toBe(seen.length);
      for (let d = 0; d < V; d++) {
        const sum = seen.reduce((total, j) => total + (values[j * V + d] as number), 0);
        expect(field.sum[d]).toBeCloseTo(sum, 12);
      }
    }
  });
});

test('a suffix keeps no rounding of large values that it never held', () => {
  const large = values.with(0, 1e30);
  const options = { ...RING_ATTENTION_DEFAULTS, direction: 'anticausal' } as const;
  const field = new FarField(checkRows({ turns: T, queries: large, keys: large, values: large }), options);
  field.moveTo(T - 1);
  expect(field.sum[0]).toBe(values[(T - 1) * V]);
});
