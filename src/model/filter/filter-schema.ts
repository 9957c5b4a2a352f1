import { z } from 'zod';
import { type ConfigurationFault, InvalidFilterError } from '../../core/errors/errors.ts';
import { check } from '../../core/validation/validation.ts';
import {
  exceedsFilterDepth,
  FILTER_OPERATIONS,
  type Filter,
  type FilterValue,
  findFieldFault,
  findNumberFault,
  findOperandFault,
  findTextFault,
  isVariable,
  MAX_FILTER_DEPTH,
} from './filter.ts';
import { isPlainKey, parseFilter } from './parse-filter.ts';

type Fault = { readonly expected: string; readonly remedy: string };

/** Reports to zod what is wrong with a value. */
function refuse<T>(context: z.core.ParsePayload<T>, fault: Fault | undefined): void {
  if (fault === undefined) return;
  const message = `${fault.expected} (${fault.remedy})`;
  // Only then a union passes the message on.
  context.issues.push({ code: 'custom', message, input: context.value, continue: true });
}

const text = z.string().check((context) => refuse(context, findTextFault(context.value)));
const field = z.string().check((context) => refuse(context, findFieldFault(context.value)));
// `z.number` calls NaN a wrong type; here a wrong number has one message.
const number = z
  .custom<number>((input) => typeof input === 'number', 'a number')
  .check((context) => refuse(context, findNumberFault(context.value)));
const variable = z.strictObject({ query: text });
const value = z.union([text, number, z.boolean(), z.null(), variable]);

const tree: z.ZodType<Filter> = z.discriminatedUnion('op', [
  z.strictObject({
    op: z.enum(['and', 'or']),
    get of(): z.ZodType<Filter[]> {
      return z.array(tree).min(2);
    },
  }),
  z.strictObject({
    op: z.literal('not'),
    get of(): z.ZodType<Filter> {
      return tree;
    },
  }),
  z
    .strictObject({ op: z.enum(['=', '!=', '<', '<=', '>', '>=']), field, value })
    .check((context) => refuse(context, findOperandFault(context.value.field, context.value.value))),
  z.strictObject({ op: z.literal('between'), field, low: value, high: value }).check((context) => {
    const { field: name, low, high } = context.value;
    refuse(context, findOperandFault(name, low) ?? findOperandFault(name, high));
  }),
  z.strictObject({ op: z.literal('in'), field, values: z.array(value) }).check((context) => {
    const { field: name, values } = context.value;
    refuse(context, values.map((item) => findOperandFault(name, item)).find(isFault));
  }),
  z.strictObject({ op: z.literal('contains'), field, value: z.union([text, variable]) }),
  z.strictObject({ op: z.literal('exists'), field }),
]);

function isFault(fault: Fault | undefined): fault is Fault {
  return fault !== undefined;
}

/**
 * A filter from outside: its text, or its tree.
 *
 * @throws InvalidFilterError with the place in the text, or the path in the tree.
 */
export function readFilter(input: unknown): Filter {
  if (typeof input === 'string') return parseFilter(input);
  // The schema calls itself for each level.
  if (exceedsFilterDepth(input)) {
    const [expected, got] = [`at most ${MAX_FILTER_DEPTH} levels`, 'a deeper tree'];
    throw new InvalidFilterError({ place: '(top level)', expected, got, remedy: 'join the filters of inner levels' });
  }
  const result = check(tree, input);
  if (!('faults' in result)) return result.value;
  const { path, expected, got, nearest } = result.faults[0] as ConfigurationFault;
  const remedy = nearest === undefined ? 'correct the tree, or write the filter as text' : `did you mean ${nearest}?`;
  throw new InvalidFilterError({ place: path, expected, got, remedy });
}

/** The text of a filter or its tree, as they are written in a config. */
export const writtenFilter = z.union([z.string(), z.looseObject({ op: z.enum(FILTER_OPERATIONS) })]);

/** Reads a filter for a schema: an error of the filter is an issue of the schema, with the place in the text. */
export function readWrittenFilter(input: unknown, context: z.core.$RefinementCtx, path: PropertyKey[] = []): Filter {
  try {
    return readFilter(input);
  } catch (error) {
    if (!(error instanceof InvalidFilterError)) throw error;
    const { place, expected, got, remedy } = error.fault;
    const message = `a filter with ${expected} at ${place}, not ${got} (${remedy})`;
    context.addIssue({ code: 'custom', path, message });
    return z.NEVER;
  }
}

/** The text of a filter or its tree, as configs and programs give it; the result is the tree. */
export const filterSchema = writtenFilter.transform((input, context): Filter => readWrittenFilter(input, context));

const quote = (text: string, mark: string) => `${mark}${text.replaceAll(mark, mark + mark)}${mark}`;

const formatKey = (key: string) => (isPlainKey(key) ? key : quote(key, '`'));

function formatValue(value: FilterValue): string {
  if (isVariable(value)) return `$query.${formatKey(value.query)}`;
  if (typeof value === 'string') return quote(value, "'");
  return Object.is(value, -0) ? '-0' : String(value);
}

/** An inner filter, in parentheses where its parts would join those of the outer one. */
function formatInner(filter: Filter, outer: 'and' | 'or' | 'not'): string {
  const text = formatNode(filter);
  const binds = filter.op === 'and' ? outer === 'or' : filter.op !== 'or';
  return binds ? text : `(${text})`;
}

function formatNode(filter: Filter): string {
  switch (filter.op) {
    case 'and':
    case 'or':
      return filter.of.map((inner) => formatInner(inner, filter.op)).join(` ${filter.op} `);
    case 'not':
      return `not ${formatInner(filter.of, 'not')}`;
    case 'exists':
      return `exists ${formatKey(filter.field)}`;
    case 'in':
      return `${formatKey(filter.field)} in [${filter.values.map(formatValue).join(', ')}]`;
    case 'between':
      return `${formatKey(filter.field)} between ${formatValue(filter.low)} and ${formatValue(filter.high)}`;
    default:
      return `${formatKey(filter.field)} ${filter.op} ${formatValue(filter.value)}`;
  }
}

/**
 * The text of a filter: `parseFilter(formatFilter(filter))` is the filter again, so that two texts with one tree have
 * one text.
 *
 * @throws InvalidFilterError for a wrong tree.
 */
export function formatFilter(filter: Filter): string {
  return formatNode(readFilter(filter));
}
