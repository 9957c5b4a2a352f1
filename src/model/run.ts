import type { Scored } from './turns/tie-rule.ts';

/** The result of a system: for each query id its documents, best first by the tie rule. */
export type Run = ReadonlyMap<string, readonly Scored[]>;

/** The judgements: for each query id the grade of each judged document. */
export type Qrels = ReadonlyMap<string, ReadonlyMap<string, number>>;
