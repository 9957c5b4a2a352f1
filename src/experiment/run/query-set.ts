import { z } from 'zod';
import { hashOf } from '../../core/hash.ts';
import type { Plain } from '../config/config-file.ts';
import type { RunSummary } from '../stored/run-summary.ts';

const DRAWN = z.object({
  evaluation: z.object({
    limitQueries: z.number().nullable().default(null),
    share: z.number().default(1),
  }),
});

/** Whether a part of the queries was drawn, so that they depend on the seed. */
function areDrawn(config: Plain): boolean {
  const { success, data } = DRAWN.safeParse(config);
  return success && (data.evaluation.limitQueries !== null || data.evaluation.share < 1);
}

/** Identity of the queries that a stored run is measured on. Figures of two runs may be ranked together only where it is the same. @param config of the run. */
export function querySetOf({ dataset, queries, environment }: RunSummary, config: Plain): string {
  return hashOf([dataset.hash, dataset.split, queries, areDrawn(config) ? environment.seed : null]);
}
