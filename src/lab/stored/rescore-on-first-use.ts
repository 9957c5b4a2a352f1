import type { ExperimentResult } from '../measure/result.ts';
import type { RescoreOptions } from './rescore.ts';
import type { StoredRun } from './stored-run.ts';

/**
 * Measures a stored run by other definitions, from the rankings and judgements of its folder. Nothing is retrieved
 * again; strata and attribution are left empty.
 *
 * @throws ValidationError for an unknown metric or baseline, a metric that looks further than the rankings go, and one
 *   that is a sum over the queries.
 */
export async function rescore(stored: StoredRun, options: RescoreOptions): Promise<ExperimentResult> {
  return (await import('./rescore.ts')).rescore(stored, options);
}
