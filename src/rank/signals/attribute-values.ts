import type { AttributeValue } from '../../model/turns/attributes.ts';
import type { Column, PoolRows } from './candidate-pool.ts';
import { defineSignal, type World } from './signal.ts';

/** A column of the value that `read` gives an attribute of each candidate; `none` for a turn without the attribute, 0 where the pool is padded. */
export function readAttributes(
  { corpus }: Pick<World, 'corpus'>,
  pool: PoolRows,
  attribute: string,
  read: (value: AttributeValue, turnId: string) => number,
  none: number,
): Column {
  const byTurn = new Map<number, number>();
  return Float32Array.from(pool.positions, (position) => {
    if (position < 0) return 0;
    const known = byTurn.get(position);
    if (known !== undefined) return known;
    const { id, attributes = {} } = corpus.turns[position] as (typeof corpus.turns)[number];
    const value = Object.hasOwn(attributes, attribute) ? read(attributes[attribute] as AttributeValue, id) : none;
    byTurn.set(position, value);
    return value;
  });
}

/** A reserved attribute with a number, 0 for a turn without it. */
function defineAttributeSignal(name: 'outcome' | 'importance', summary: string) {
  return defineSignal({
    name,
    summary,
    module: import.meta.url,
    reads: ['attributes'],
    compute: ({ world, pool }, _: null) => readAttributes(world, pool, name, Number, 0),
  });
}

/** How well it went, as observed when the turn was written. */
export const outcomeSignal = defineAttributeSignal('outcome', 'the attribute `outcome` of the turn; 0 without one');

/** What the turn is worth to whoever wrote it down. */
export const importanceSignal = defineAttributeSignal(
  'importance',
  'the attribute `importance` of the turn, in [0, 1]; 0 without one',
);
