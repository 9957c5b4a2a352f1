import { InvalidFilterError } from '../../core/errors/errors.ts';
import { findNearestWord, shortenToExcerpt } from '../../core/validation/validation.ts';
import { MEMORY_FIELDS, RESERVED_ATTRIBUTES } from '../turns/memory-fields.ts';

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

/**
 * What is wrong with a text that no table can hold: half a surrogate pair has no UTF-8 form, and Postgres has no
 * U+0000.
 */
export function findTextFault(text: string): { expected: string; remedy: string } | undefined {
  if (!/\p{Cs}/u.test(text) && !text.includes('\0')) return undefined;
  return { expected: 'well-formed Unicode without U+0000', remedy: 'remove half surrogate pairs and U+0000' };
}

/** The error of a number that no attribute may have. */
export function findNumberFault(value: number): { expected: string; remedy: string } | undefined {
  if (!Number.isFinite(value)) return { expected: 'a finite number', remedy: 'compare with a finite number' };
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return undefined;
  return {
    expected: `an integer of at most ${Number.MAX_SAFE_INTEGER} in magnitude`,
    remedy: 'write it as a string, here and in the attribute',
  };
}

function findValueFault(value: unknown): { expected: string; remedy: string } | undefined {
  if (value === null || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return findNumberFault(value);
  if (typeof value === 'string') return findTextFault(value);
  const expected = 'a string, a number, a boolean, a list of strings or null';
  if (!Array.isArray(value)) return { expected, remedy: 'pass another value' };
  for (const item of value) {
    const fault = typeof item === 'string' ? findTextFault(item) : { expected, remedy: 'pass a list of strings' };
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The values of the variables that a filter reads, by name. */
export type ResolvedVariables = ReadonlyMap<string, FieldValue>;

/**
 * The values of the variables of a filter, all of them checked.
 *
 * @throws InvalidFilterError if a filter with variables has no values of variables, and for a value that no attribute
 *   may have.
 */
export function resolveVariables(filter: Filter, variables: FilterVariables | undefined): ResolvedVariables {
  const resolved = new Map<string, FieldValue>();
  for (const name of listFilterVariables(filter)) {
    const place = `$query.${name}`;
    if (variables === undefined) {
      const remedy = 'pass the variables beside the filter';
      throw new InvalidFilterError({ place, expected: 'values of variables', got: 'none', remedy });
    }
    const value = Object.hasOwn(variables, name) ? (variables[name] ?? null) : null;
    const fault = findValueFault(value);
    if (fault !== undefined) throw new InvalidFilterError({ place, ...fault, got: shortenToExcerpt(value) });
    resolved.set(name, value);
  }
  return resolved;
}

/** The value of a literal, or of a variable. */
export function resolveValue(value: FilterValue, variables: ResolvedVariables): FieldValue {
  return isVariable(value) ? (variables.get(value.query) ?? null) : value;
}

/** Describes what is wrong with a field of a filter: a text is searched, not filtered. */
export function findFieldFault(field: string): { expected: string; remedy: string } | undefined {
  if (field !== 'text') return findTextFault(field);
  return {
    expected: 'a field that filters read',
    remedy: 'filter by an attribute or by id, conversationId, parentId, timestamp, author or channel',
  };
}

/**
 * Describes what is wrong with a value that is compared with a field: a timestamp is a number, so that a date in quotes
 * would never match.
 */
export function findOperandFault(field: string, value: FilterValue): { expected: string; remedy: string } | undefined {
  if (field !== 'timestamp' || value === null || isVariable(value) || typeof value === 'number') return undefined;
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  const remedy = Number.isNaN(time) ? 'write a number' : `write ${time}`;
  return { expected: 'a timestamp in milliseconds since 1970-01-01 UTC', remedy };
}
