import { type Filter, type FilterValue, isVariable } from './filter.ts';
import { readFilter } from './filter-schema.ts';
import { isPlainKey } from './parse-filter.ts';

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
 * The text of a filter: `parseFilter(formatFilter(filter))` is the filter again, so that two texts with one tree have one
 * text.
 *
 * @throws InvalidFilterError for a wrong tree.
 */
export function formatFilter(filter: Filter): string {
  return formatNode(readFilter(filter));
}
