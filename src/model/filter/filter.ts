import { InvalidFilterError } from '../../core/errors/errors.ts';
import { findNearestWord } from '../../core/validation/validation.ts';
import { RESERVED_ATTRIBUTES } from '../turns/attributes.ts';
import { MEMORY_FIELDS } from '../turns/memory-fields.ts';

/**
 * A filter says which turns a query may see. One tree has one meaning in a predicate and in SQL: logic has two values,
 * a missing attribute is null, and null equals null.
 */

/** What a field may hold. A missing field is null. */
export type FieldValue = string | number | boolean | readonly string[] | null;

/** A literal, or a variable: `{ query: 'channel' }` is `$query.channel`, the channel of the query. */
export type FilterValue = string | number | boolean | null | { readonly query: string };

/** How a filter compares a field with a value. */
export type FilterComparison = '=' | '!=' | '<' | '<=' | '>' | '>=';

/** The typed tree of a filter. `parseFilter` reads a tree from text, `formatFilter` writes its text. */
export type Filter =
  | { readonly op: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly op: 'not'; readonly of: Filter }
  | { readonly op: FilterComparison; readonly field: string; readonly value: FilterValue }
  | { readonly op: 'between'; readonly field: string; readonly low: FilterValue; readonly high: FilterValue }
  | { readonly op: 'in'; readonly field: string; readonly values: readonly FilterValue[] }
  | { readonly op: 'contains'; readonly field: string; readonly value: string | { readonly query: string } }
  | { readonly op: 'exists'; readonly field: string };

/** What a filter reads of a turn: a Turn is one. An absent field is null. */
export interface FilterSubject {
  readonly id?: string | null;
  readonly conversationId?: string | null;
  readonly parentId?: string | null;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly timestamp?: number | null;
  readonly author?: string | null;
  readonly channel?: string | null;
  readonly attributes?: Readonly<Record<string, FieldValue | undefined>>;
}

/** The values of `$query` by name. A name that is missing is null. */
export type FilterVariables = Readonly<Record<string, FieldValue | undefined>>;

/** The fields that a turn has itself; any other name is that of an attribute. */
export const OWN_FIELDS = ['id', 'conversationId', 'parentId', 'timestamp', 'author', 'channel'] as const;

/** The name of a field that a turn has itself. */
export type OwnField = (typeof OWN_FIELDS)[number];

export const FILTER_OPERATIONS = [
  'and',
  'or',
  'not',
  '=',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'between',
  'in',
  'contains',
  'exists',
] as const satisfies readonly Filter['op'][];

/** How deep the tree of a filter may be. */
export const MAX_FILTER_DEPTH = 100;

export function isOwnField(field: string): field is OwnField {
  return (OWN_FIELDS as readonly string[]).includes(field);
}

/** True if a value is a variable. */
export function isVariable(value: FilterValue): value is { readonly query: string } {
  return typeof value === 'object' && value !== null;
}

/** The values that a node compares its field with. */
export function listOperands(filter: Filter): readonly FilterValue[] {
  if ('value' in filter) return [filter.value];
  if (filter.op === 'between') return [filter.low, filter.high];
  return filter.op === 'in' ? filter.values : [];
}

type FilterLeaf = Extract<Filter, { readonly field: string }>;

/** The nodes that look at a field. A loop over a list, as all that walk whole trees. */
function* walkLeaves(filter: Filter): Generator<FilterLeaf> {
  const pending: Filter[] = [filter];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.op === 'not') pending.push(node.of);
    else if ('field' in node) yield node;
    else for (const inner of node.of) pending.push(inner);
  }
}

/** The names of the variables that a filter reads, sorted. */
export function listFilterVariables(filter: Filter): string[] {
  const names = new Set<string>();
  for (const leaf of walkLeaves(filter))
    for (const value of listOperands(leaf)) if (isVariable(value)) names.add(value.query);
  return [...names].sort();
}

/** The fields that a filter reads, sorted. */
export function listFilterFields(filter: Filter): string[] {
  return [...new Set(Array.from(walkLeaves(filter), ({ field }) => field))].sort();
}

/** The fields that a filter asks by `exists` whether they are there. */
export function listAskedFields(filter: Filter): string[] {
  return Array.from(walkLeaves(filter)).flatMap(({ op, field }) => (op === 'exists' ? field : []));
}

/**
 * True if a tree, of whatever shape, has more levels than a filter may have. A loop over a list: the tree may be too
 * deep for calls.
 */
export function exceedsFilterDepth(tree: unknown): boolean {
  const pending: [node: unknown, depth: number][] = [[tree, 1]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [node, depth] = next;
    if (node === null || typeof node !== 'object' || !('of' in node)) continue;
    if (depth === MAX_FILTER_DEPTH) return true;
    for (const inner of Array.isArray(node.of) ? node.of : [node.of]) pending.push([inner, depth + 1]);
  }
  return false;
}

/** Attributes that the framework reads: data may lack them. */
const READ = new Set<string>([...RESERVED_ATTRIBUTES, ...MEMORY_FIELDS]);

/**
 * Refuses a filter by an attribute that does not occur and that the framework does not read: a misspelt name is
 * null everywhere, and the filter would accept nothing, or everything. A filter that asks by `exists` whether it
 * occurs may read it.
 *
 * @param known the attributes that occur.
 * @param owners what has them, such as `a record`.
 * @throws InvalidFilterError with the nearest known name.
 */
export function assertFilterNames(
  filter: Filter,
  known: Pick<ReadonlySet<string>, 'has' | 'keys'>,
  owners: string,
): void {
  const asked = new Set(listAskedFields(filter));
  const isUnknown = (field: string) => !isOwnField(field) && !known.has(field) && !READ.has(field) && !asked.has(field);
  const field = listFilterFields(filter).find(isUnknown);
  if (field === undefined) return;
  const nearest = findNearestWord(field, [...known.keys(), ...READ]);
  const advice = `if ${owners} may lack it, add: exists ${field}`;
  throw new InvalidFilterError({
    place: field,
    expected: `an attribute that ${owners} has`,
    got: field,
    remedy: nearest === undefined ? advice : `did you mean ${nearest}? ${advice}`,
  });
}
