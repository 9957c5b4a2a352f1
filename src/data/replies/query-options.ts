import { z } from 'zod';

/** What is asked of conversations that come without queries. */
export const QUERY_KINDS = ['continuation', 'replies', 'own', 'none'] as const;
/** What is asked of conversations that come without queries. */
export type QueryKind = (typeof QUERY_KINDS)[number];

/** The task of a dataset with the option `queries: none`. */
export const TASK_WITHOUT_QUERIES = 'no queries: conversations to search';

/** The options by which a dataset of conversations without queries gets some. */
export interface QueryChoice {
  /**
   * `replies`: each message that answers another must find it. `continuation`: the last message of each conversation must find the others. `own`: the queries of
   * `queryFile`, which have no judgements. `none`: no query, for data that is only searched.
   */
  readonly queries: QueryKind;
  /** A JSON Lines file with `text`, and optionally `id` and `timestamp`; null unless queries is `own`. */
  readonly queryFile: string | null;
}

/** The options of {@link QueryChoice} in the schema of a dataset. @param preset what is asked by default */
export function createQueryOptions(preset: QueryKind) {
  return {
    queries: z.enum(QUERY_KINDS).default(preset),
    queryFile: z.string().min(1).nullable().default(null),
  };
}

/** The check of {@link QueryChoice}: a file of queries is named where it is read, and nowhere else. */
export function isQueryChoice({ queries, queryFile }: QueryChoice): boolean {
  return (queries === 'own') === (queryFile !== null);
}

/** The fault of options that are no {@link isQueryChoice}. */
export const QUERY_CHOICE_FAULT = { path: ['queryFile'], message: 'a file with queries: own, and null otherwise' };
