import { compareBytes } from '../turns/tie-rule.ts';
import {
  type FieldValue,
  type Filter,
  type FilterComparison,
  type FilterSubject,
  type FilterValue,
  type FilterVariables,
  isOwnField,
  isVariable,
  type ResolvedVariables,
  resolveValue,
  resolveVariables,
} from './filter.ts';
import { readFilter } from './filter-schema.ts';

/** True if a filter accepts a turn, for a query with these variables. */
export type FilterPredicate = (subject: FilterSubject, variables?: FilterVariables) => boolean;

type Test = (subject: FilterSubject, variables: ResolvedVariables) => boolean;

/** The value of a field; null if it is missing. JSON has no NaN, so that a table holds null in its place, and so here. */
function readField(subject: FilterSubject, field: string): FieldValue {
  const source: Readonly<Record<string, FieldValue | undefined>> | undefined = isOwnField(field)
    ? (subject as Readonly<Record<string, FieldValue | undefined>>)
    : subject.attributes;
  if (source === undefined || !Object.hasOwn(source, field)) return null;
  const value = source[field] ?? null;
  return typeof value === 'number' && !Number.isFinite(value) ? null : value;
}

function areEqual(a: FieldValue, b: FieldValue): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b;
  return a.length === b.length && a.every((item, i) => item === b[i]);
}

/** Less than 0, 0 or more than 0; undefined for two values that have no order. */
function compareValues(a: FieldValue, b: FieldValue): number | undefined {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return typeof a === 'string' && typeof b === 'string' ? compareBytes(a, b) : undefined;
}

function contains(holder: FieldValue, value: FieldValue): boolean {
  if (typeof value !== 'string' || holder === null) return false;
  return typeof holder === 'string' || Array.isArray(holder) ? holder.includes(value) : false;
}

const COMPARISONS: Readonly<Record<FilterComparison, (a: FieldValue, b: FieldValue) => boolean>> = {
  '=': areEqual,
  '!=': (a, b) => !areEqual(a, b),
  '<': (a, b) => (compareValues(a, b) ?? 1) < 0,
  '<=': (a, b) => (compareValues(a, b) ?? 1) <= 0,
  '>': (a, b) => (compareValues(a, b) ?? -1) > 0,
  '>=': (a, b) => (compareValues(a, b) ?? -1) >= 0,
};

/** Linear in the length of the list once, then constant for each turn. */
function compileIn(field: string, values: readonly FilterValue[]): Test {
  const literals = new Set<FieldValue>(values.filter((value): value is FieldValue & FilterValue => !isVariable(value)));
  const others = values.filter(isVariable);
  return (subject, variables) => {
    const found = readField(subject, field);
    return literals.has(found) || others.some((value) => areEqual(found, resolveValue(value, variables)));
  };
}

function compileNode(filter: Filter): Test {
  switch (filter.op) {
    case 'and': {
      const tests = filter.of.map(compileNode);
      return (subject, variables) => tests.every((test) => test(subject, variables));
    }
    case 'or': {
      const tests = filter.of.map(compileNode);
      return (subject, variables) => tests.some((test) => test(subject, variables));
    }
    case 'not': {
      const test = compileNode(filter.of);
      return (subject, variables) => !test(subject, variables);
    }
    case 'between': {
      const { field, low, high } = filter;
      return (subject, variables) => {
        const found = readField(subject, field);
        const [from, to] = [resolveValue(low, variables), resolveValue(high, variables)];
        return COMPARISONS['>='](found, from) && COMPARISONS['<='](found, to);
      };
    }
    case 'in':
      return compileIn(filter.field, filter.values);
    case 'contains':
      return (subject, variables) => contains(readField(subject, filter.field), resolveValue(filter.value, variables));
    case 'exists':
      return (subject) => readField(subject, filter.field) !== null;
    default: {
      const { field, value } = filter;
      const compare = COMPARISONS[filter.op];
      return (subject, variables) => compare(readField(subject, field), resolveValue(value, variables));
    }
  }
}

/**
 * A filter for the turns of one query.
 *
 * @param filter a tree, or its text.
 * @throws InvalidFilterError for a wrong filter, missing variables, and a variable that no attribute may equal, as NaN.
 */
export function bindFilter(filter: Filter | string, variables?: FilterVariables): (subject: FilterSubject) => boolean {
  const tree = readFilter(filter);
  const test = compileNode(tree);
  const resolved = resolveVariables(tree, variables);
  return (subject) => test(subject, resolved);
}

/**
 * A filter as a function of turns and variables. Its time is linear in the size of the filter. It agrees with
 * `compileFilterSql` on every turn.
 *
 * @param filter a tree, or its text.
 * @throws InvalidFilterError for a wrong filter; the function throws it for missing variables, and for a variable that no
 * attribute may equal, as NaN.
 */
export function compileFilter(filter: Filter | string): FilterPredicate {
  const tree = readFilter(filter);
  const test = compileNode(tree);
  return (subject, variables) => test(subject, resolveVariables(tree, variables));
}
