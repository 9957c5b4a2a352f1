/**
 * The strata of a set of judged queries: `exact` repeats words of its source, `paraphrase` shares none, `multi-hop` needs at least two documents.
 */
export const QUERY_STRATA = Object.freeze(['exact', 'paraphrase', 'multi-hop'] as const);

/** The least number of queries at which a stratum ranks systems reliably. Source: voorhees2002topic. */
export const LEAST_QUERIES_PER_STRATUM = 50;

/** A stratum and its queries. */
export interface StratumSize {
  readonly stratum: string;
  readonly queries: number;
}

/** The strata with fewer than {@link LEAST_QUERIES_PER_STRATUM} queries, by name. @param strata the stratum of each query; null if it has none. */
export function findSmallStrata(strata: Iterable<string | null>): StratumSize[] {
  const counts = new Map<string, number>();
  for (const stratum of strata) if (stratum !== null) counts.set(stratum, (counts.get(stratum) ?? 0) + 1);
  return Array.from(counts, ([stratum, queries]) => ({ stratum, queries }))
    .filter(({ queries }) => queries < LEAST_QUERIES_PER_STRATUM)
    .sort((a, b) => (a.stratum < b.stratum ? -1 : 1));
}

/** `stratum multi-hop has 39 queries, fewer than 50; add 11 queries, or report it as too small to rank systems` */
export function describeSmallStratum({ stratum, queries }: StratumSize): string {
  const least = LEAST_QUERIES_PER_STRATUM;
  return `stratum ${stratum} has ${queries} queries, fewer than ${least}; add ${least - queries} queries, or report it as too small to rank systems`;
}
