import { z } from 'zod';
import {
  createQueryOptions,
  isQueryChoice,
  QUERY_CHOICE_FAULT,
  type QueryChoice,
  type QueryKind,
} from '../replies/query-options.ts';

/**
 * The schema of the options of an export: its name, its path, what is asked of it, and what it takes besides.
 *
 * @param preset what is asked by default.
 */
export function createExportSchema<const Name extends string, const More extends z.ZodRawShape>(
  name: Name,
  preset: QueryKind,
  more: More,
) {
  const own = { name: z.literal(name), path: z.string().min(1), ...createQueryOptions(preset) };
  return z
    .strictObject({ ...own, ...more })
    .refine((options) => isQueryChoice(options as unknown as QueryChoice), QUERY_CHOICE_FAULT);
}
