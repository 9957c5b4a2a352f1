import type { Corpus } from './corpus.ts';
import type { Qrels } from './run.ts';

export type Split = 'dev' | 'test';

/** A question put to the memory at a moment; only turns strictly earlier than `timestamp` may answer it. */
export interface Query {
  readonly id: string;
  readonly text: string;
  readonly timestamp: number;
  /** The newest turn of the conversation before the query, if the searcher knows it; null for a new message of unknown thread. */
  readonly anchorTurnId: string | null;
  /** The later turn of the corpus that the query itself is, where it is one. For people to look at, never shown to a scorer. */
  readonly turnId?: string;
  readonly author: string | null;
  readonly channel: string | null;
  /** The one conversation whose turns may answer, where the searcher asks it alone; absent where the whole corpus is asked. */
  readonly conversationId?: string;
  /** The kind of query, if the dataset declares it; reports group results by it. No scorer reads it. */
  readonly kind?: string;
  readonly split: Split;
  /** What queries are resampled by: those of one conversation are not independent. Never shown to a scorer. */
  readonly cluster: string;
}

/** A prepared dataset: what all experiments start from. */
export interface Dataset {
  readonly name: string;
  /** What the data is, which features a system may use, and under which licence it comes. */
  readonly declaration: { readonly task: string; readonly features: readonly string[]; readonly licence: string };
  readonly corpus: Corpus;
  /** In time order. */
  readonly queries: readonly Query[];
  readonly qrels: Qrels;
  /** The least grade that counts as relevant to metrics that know only relevant and not. */
  readonly relevantGrade: number;
  /** What people call the grades, for example 3 a parent. */
  readonly gradeNames: Readonly<Record<number, string>>;
  /** Conversations that learned parts may be fitted on. */
  readonly devConversations: ReadonlySet<string>;
  /** Counts of what was read, dropped and kept, for people to look at. */
  readonly facts: Readonly<Record<string, number>>;
  /** Identity of the content. */
  readonly hash: string;
}
