import { z } from 'zod';
import { readWrittenFilter, writtenFilter } from '../../model/filter/filter-schema.ts';
import { formatFilter } from '../../model/filter/format-filter.ts';

const written = z.union([
  writtenFilter,
  z.strictObject({ where: writtenFilter, apply: z.enum(['before', 'after']).default('before') }),
]);

/**
 * What the queries of an arm may see. `before`: the sources search among the turns that the filter accepts; `after`: turns
 * that it refuses leave the pool. A resolved filter is its text in one form, so that equal filters have equal keys.
 */
export const filterOptions = written.transform((input, context): { where: string; apply: 'before' | 'after' } => {
  const isWhole = typeof input === 'object' && 'where' in input && !('op' in input);
  const filter = isWhole ? readWrittenFilter(input.where, context, ['where']) : readWrittenFilter(input, context);
  if (context.issues.length > 0) return z.NEVER;
  return { where: formatFilter(filter), apply: isWhole ? (input.apply as 'before' | 'after') : 'before' };
});

/** The resolved filter of an arm. */
export type FilterOptions = z.output<typeof filterOptions>;
