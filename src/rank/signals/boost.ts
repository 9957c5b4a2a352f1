import { readAttributes } from './attribute-values.ts';
import { computeBoostFactor } from './boost-factor.ts';
import type { BoostOptions } from './boost-options.ts';
import { defineSignal } from './signal.ts';

/** The product of 1 + factor x attribute over the boosts; 1 for a turn without the attributes. A factor of less than 0 counts as 0. */
export const boostSignal = defineSignal({
  name: 'boost',
  summary: 'product of (1 + factor × attribute) over the boosts of the arm, each at least 0',
  module: import.meta.url,
  reads: ['attributes'],
  compute: ({ world, pool }, boosts: BoostOptions) => {
    const columns = boosts.map((boost) =>
      readAttributes(
        world,
        pool,
        boost.attribute,
        (value, id) => computeBoostFactor(boost, value, `boost of attribute ${boost.attribute}`, `turn ${id}`),
        1,
      ),
    );
    return Float32Array.from(pool.positions, (_, pair) =>
      columns.reduce((product, column) => product * (column[pair] as number), 1),
    );
  },
});
