import { printError } from '../../../core/terminal/terminal.ts';
import { describeSmallStratum, findSmallStrata } from '../../../lab/judging/query-strata.ts';

/** Prints a warning for each stratum with fewer than 50 queries. @param queries a stratum a query, by id. */
export function warnOfSmallStrata(queries: ReadonlyMap<string, string | null>): void {
  for (const small of findSmallStrata(queries.values()))
    printError(`ragpp: warning (small-stratum): ${describeSmallStratum(small)}\n`);
}
