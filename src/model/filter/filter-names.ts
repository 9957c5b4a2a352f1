import { InvalidFilterError } from '../../core/errors/errors.ts';
import { findNearestWord } from '../../core/validation/validation.ts';
import { RESERVED_ATTRIBUTES } from '../turns/attributes.ts';
import { MEMORY_FIELDS } from '../turns/memory-fields.ts';
import { type Filter, isOwnField, listAskedFields, listFilterFields } from './filter.ts';

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
