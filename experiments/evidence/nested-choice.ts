/** What each conversation was given: the arm that is best on the others, and its values. Q queries. */
export interface NestedChoice {
  /** [Q] of the arm that was chosen without the query's conversation. */
  readonly values: readonly number[];
  /** Conversation -> arm. */
  readonly chosen: Readonly<Record<string, string>>;
}

const average = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Chooses an arm for each conversation by the mean over the queries of all other conversations; of equal means the first arm.
 *
 * @param values [Q] of each arm, by name.
 * @param clusters [Q] the conversation of each query; at least two.
 */
export function chooseNested(
  values: ReadonlyMap<string, readonly number[]>,
  clusters: readonly string[],
): NestedChoice {
  const chosen: Record<string, string> = {};
  for (const held of new Set(clusters)) {
    let best = Number.NEGATIVE_INFINITY;
    for (const [arm, column] of values) {
      const mean = average(column.filter((_, query) => clusters[query] !== held));
      if (!(mean > best)) continue;
      best = mean;
      chosen[held] = arm;
    }
  }
  return {
    values: clusters.map((cluster, query) => values.get(chosen[cluster] as string)?.[query] as number),
    chosen,
  };
}
