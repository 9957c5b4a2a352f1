import { z } from 'zod';
import { computeHash } from '../../core/hash/hash.ts';
import { parseOrNull } from '../../core/validation/validation.ts';
import type { Plain } from '../composition/config-file.ts';
import type { RunSummary } from './run-summary.ts';

const DRAWN = z.object({
  evaluation: z.object({
    limitQueries: z.number().nullable().default(null),
    share: z.number().default(1),
  }),
});

/** How a part of the queries was drawn; null for all of them. */
function describeQueryDraw(config: Plain, seed: number) {
  const drawn = parseOrNull(DRAWN, config);
  if (drawn === null) return null;
  const { limitQueries, share } = drawn.evaluation;
  return limitQueries === null && share === 1 ? null : { limitQueries, share, seed };
}

/** Identity of the queries that a stored run is measured on. Figures of two runs may be ranked together only if it is the same. @param config of the run. */
export function computeQuerySetHash({ dataset, queries, environment }: RunSummary, config: Plain): string {
  return computeHash([dataset.hash, dataset.split, queries, describeQueryDraw(config, environment.seed)]);
}
