import type { Scored } from './tie-rule.ts';

/** What a system returned: for each query id its documents, best first by the tie rule. */
export type Run = ReadonlyMap<string, readonly Scored[]>;

/** What is relevant: for each query id the grade of each judged document. */
export type Qrels = ReadonlyMap<string, ReadonlyMap<string, number>>;
