import { type FilterValue, isVariable } from './filter.ts';
import { findTextFault } from './filter-values.ts';

/** What is wrong with a field of a filter: a text is searched, not filtered. */
export function findFieldFault(field: string): { expected: string; remedy: string } | undefined {
  if (field !== 'text') return findTextFault(field);
  return {
    expected: 'a field that filters read',
    remedy: 'filter by an attribute or by id, conversationId, parentId, timestamp, author or channel',
  };
}

/** What is wrong with a value that is compared with a field: a timestamp is a number, so that a date in quotes would never match. */
export function findOperandFault(field: string, value: FilterValue): { expected: string; remedy: string } | undefined {
  if (field !== 'timestamp' || value === null || isVariable(value) || typeof value === 'number') return undefined;
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  const remedy = Number.isNaN(time) ? 'write a number' : `write ${time}`;
  return { expected: 'a timestamp in milliseconds since 1970-01-01 UTC', remedy };
}
