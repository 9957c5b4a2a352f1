import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import type { AttributeValue } from '../../model/turns/memory-fields.ts';
import { defineSignal, type World } from './signal.ts';
import type { Column, PoolRows } from './stage.ts';

/**
 * A column of the value that `read` gives an attribute of each candidate; `none` for a turn without the attribute, 0
 * where the pool is padded.
 */
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

/** The outcome, as observed when the turn was written. */
export const outcomeSignal = defineSignal({
  name: 'outcome',
  summary: 'the attribute `outcome` of the turn; 0 without one',
  module: import.meta.url,
  reads: ['attributes'],
  compute: ({ world, pool }, _: null) => readAttributes(world, pool, 'outcome', Number, 0),
});

/** The importance of the turn to whoever wrote it down. */
export const importanceSignal = defineSignal({
  name: 'importance',
  summary: 'the attribute `importance` of the turn, in [0, 1]; 0 without one',
  module: import.meta.url,
  reads: ['attributes'],
  compute: ({ world, pool }, _: null) => readAttributes(world, pool, 'importance', Number, 0),
});

/** One of the boosts of an arm. */
type Boost = BoostOptions[number];

/** The number that a boost adds to 1 for a value of its attribute. A list has the sum of its texts. */
function computeShare({ factor, factors = {} }: Boost, value: AttributeValue): number {
  if (factor !== undefined) return factor * Number(value);
  const texts = Array.isArray(value) ? (value as readonly string[]) : [String(value)];
  return texts.reduce((sum, text) => sum + (Object.hasOwn(factors, text) ? (factors[text] as number) : 0), 0);
}

function nameKind(value: AttributeValue): string {
  if (Array.isArray(value)) return 'list';
  return typeof value === 'string' ? 'text' : typeof value;
}

/**
 * Why a boost cannot use a value of its attribute, and what to do; null if it can.
 *
 * @param where has the value, for the message.
 */
function findMisfit(boost: Boost, value: AttributeValue, where: string): string | null {
  const isNumber = typeof value === 'number' || typeof value === 'boolean';
  if (boost.factor !== undefined && !isNumber)
    return `has one factor, and ${where} has a ${nameKind(value)} there; set factors: { value: factor }`;
  if (boost.factor === undefined && isNumber)
    return `has a factor for each text, and ${where} has a ${nameKind(value)} there; set factor: a number`;
  if (Number.isFinite(Math.fround(computeShare(boost, value)))) return null;
  return `is beyond float32 at ${where}, which has ${JSON.stringify(value)} there; lower the factor`;
}

/**
 * 1 + factor x attribute, 0 where that is less.
 *
 * @param part names the boost in messages, and `where` what has the value.
 * @throws ValidationError for a value of another kind, or one that makes the factor infinite.
 */
export function computeBoostFactor(boost: Boost, value: AttributeValue, part: string, where: string): number {
  const misfit = findMisfit(boost, value, where);
  if (misfit !== null) throw new ValidationError(`${part} ${misfit}`, { attribute: boost.attribute, where });
  return Math.max(0, 1 + computeShare(boost, value));
}

const boost = z
  .strictObject({
    attribute: z.string().min(1),
    /** Times the value of an attribute that is a number. */
    factor: z.number().exactOptional(),
    /** For each value of an attribute that is a text or a list of texts. */
    factors: z.record(z.string(), z.number()).exactOptional(),
  })
  .refine(({ factor, factors }) => (factor === undefined) !== (factors === undefined), {
    error: 'either factor, for an attribute that is a number, or factors, for one that is a text',
  });

/** Factors that relevance is multiplied by, from attributes of a turn. */
export const boostOptions = z.array(boost).min(1);

/** The boosts of an arm. */
export type BoostOptions = z.output<typeof boostOptions>;

/**
 * The product of 1 + factor x attribute over the boosts; 1 for a turn without the attributes. A factor of less than 0
 * counts as 0.
 */
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
