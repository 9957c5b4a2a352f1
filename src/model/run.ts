import { attachDisplay, buildTableBundle, phrase, stateShown } from '../core/display/display.ts';
import type { Scored } from './turns/tie-rule.ts';

/** Documents shown of each query. */
const SHOWN_RANKS = 3;
const SHOWN_QUERIES = 4;

/** Lets a notebook show a run as a table of the first ranks of its queries. @returns the same run. */
export function displayRun(run: Run): Run {
  return attachDisplay(run, () => {
    const rows = [...run].flatMap(([query, ranking]) =>
      ranking.slice(0, SHOWN_RANKS).map(({ id, score }, at) => ({
        ...{ query: stateShown(query), rank: at + 1, document: stateShown(id), score },
      })),
    );
    const count = [...run.values()].reduce((sum, ranking) => sum + ranking.length, 0);
    const caption = phrase`run of ${run.size} queries with ${count} ranked documents; the first ${SHOWN_RANKS} of each query`;
    return buildTableBundle(rows, { caption, limit: SHOWN_QUERIES * SHOWN_RANKS });
  });
}

/** The result of a system: for each query id its documents, best first by the tie rule. */
export type Run = ReadonlyMap<string, readonly Scored[]>;

/** A run that was checked when it was read: finite scores, no document twice in a ranking. */
export interface GradedRun extends Run {
  /** [R] the grades of a ranking by rank, as of `JudgedRanking`, without making the ranking. */
  gradeRanking(queryId: string, judgements: ReadonlyMap<string, number>): Float64Array;
}

/** The judgements: for each query id the grade of each judged document. */
export type Qrels = ReadonlyMap<string, ReadonlyMap<string, number>>;

/**
 * For each query id the documents that state something superseded at the moment of the query, each with the document
 * that states what holds instead. A query without any may be left out.
 */
export type Superseded = ReadonlyMap<string, ReadonlyMap<string, string>>;
