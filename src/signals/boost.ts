import { ValidationError } from '../core/errors.ts';
import type { AttributeValue } from '../model/attributes.ts';
import { readAttributes } from './attribute-values.ts';
import type { BoostOptions } from './boost-options.ts';
import { defineSignal } from './signal.ts';

type Boost = BoostOptions[number];

/** What a boost adds to 1 for a value of its attribute. A list has the sum of its texts. */
function computeShare({ attribute, factor, factors = {} }: Boost, value: AttributeValue, turnId: string): number {
  const facts = { attribute, turnId };
  if (factor !== undefined) {
    if (typeof value === 'number' || typeof value === 'boolean') return factor * Number(value);
    const kind = Array.isArray(value) ? 'list' : 'text';
    throw new ValidationError(
      `boost of attribute ${attribute} has one factor, and turn ${turnId} has a ${kind} there; set factors: { value: factor }`,
      facts,
    );
  }
  if (typeof value === 'number' || typeof value === 'boolean')
    throw new ValidationError(
      `boost of attribute ${attribute} has a factor for each text, and turn ${turnId} has a ${typeof value} there; set factor: a number`,
      facts,
    );
  const texts = typeof value === 'string' ? [value] : value;
  return texts.reduce((sum, text) => sum + (Object.hasOwn(factors, text) ? (factors[text] as number) : 0), 0);
}

/** The product of 1 + factor x attribute over the boosts; 1 for a turn without the attributes. A factor of less than 0 counts as 0. */
export const boostSignal = defineSignal({
  name: 'boost',
  summary: 'product of (1 + factor × attribute) over the boosts of the arm, each at least 0',
  module: import.meta.url,
  reads: ['attributes'],
  compute: ({ world, pool }, boosts: BoostOptions) => {
    const columns = boosts.map((boost) =>
      readAttributes(world, pool, boost.attribute, (value, id) => Math.max(0, 1 + computeShare(boost, value, id)), 1),
    );
    return Float32Array.from(pool.positions, (_, pair) =>
      columns.reduce((product, column) => product * (column[pair] as number), 1),
    );
  },
});
