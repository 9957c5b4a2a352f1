import type { Qrels, Superseded } from './run.ts';
import type { Corpus } from './turns/corpus.ts';
import type { Attributes } from './turns/memory-fields.ts';

/**
 * The grades of a judge: 0 unrelated, 1 related without an answer, 2 a partial or unclear answer, 3 the answer. Source:
 * upadhyay2024umbrela.
 */
export const GRADES = Object.freeze([0, 1, 2, 3] as const);

/** A grade that a named judge gives a document for a query. */
export interface Judgement {
  readonly queryId: string;
  readonly id: string;
  /** One of {@link GRADES}. */
  readonly grade: number;
  /** The person or model. */
  readonly judge: string;
}

/** A pair of query and document that a judge reads. */
export interface PairToJudge {
  readonly queryId: string;
  readonly queryText: string;
  readonly id: string;
  readonly text: string;
  /** The kind of query, such as exact, paraphrase or multi-hop; null if unknown. */
  readonly stratum: string | null;
  /** The person or model that wrote the query. */
  readonly generator: string;
  /** True if query and text must stay on this machine. */
  readonly sensitive: boolean;
}

/** `dev` is for fitting and tuning, `test` for the figures that are reported. */
export type Split = 'dev' | 'test';

/** A question to the memory at a time; only turns strictly earlier than `timestamp` may answer it. */
export interface Query {
  readonly id: string;
  readonly text: string;
  /** Milliseconds since 1970-01-01 UTC. */
  readonly timestamp: number;
  /**
   * The newest turn of the conversation before the query, if the searcher knows it; null for a new message of unknown
   * thread.
   */
  readonly anchorTurnId: string | null;
  /** The later turn of the corpus that is the query, if any. For display only, no scorer reads it. */
  readonly turnId?: string;
  readonly author: string | null;
  readonly channel: string | null;
  /** The one conversation whose turns may answer; absent if the query asks the whole corpus. */
  readonly conversationId?: string;
  /** What a filter may compare with attributes of turns, as `$query.` names; absent: nothing. */
  readonly attributes?: Attributes;
  /** The kind of query, if the dataset declares it; reports group results by it. No scorer reads it. */
  readonly kind?: string;
  readonly split: Split;
  /** The unit of resampling: queries of one conversation are not independent. No scorer reads it. */
  readonly cluster: string;
}

/** What a dataset states about itself. */
export interface DatasetDeclaration {
  readonly task: string;
  /** The features that a system may use. */
  readonly features: readonly string[];
  readonly licence: string;
  /**
   * `order` if timestamps only put turns in order, because the source has no times: what reads hours and dates is then
   * refused. `none` if all turns have one time, before every query: what ranks by the order of turns is refused too. By
   * default `real`.
   */
  readonly times?: 'real' | 'order' | 'none';
  /**
   * `none` if every turn is a conversation of its own without a channel, as a document: what reads threads is then
   * refused. By default `real`.
   */
  readonly threads?: 'real' | 'none';
}

/** A prepared dataset, the input of all experiments. */
export interface Dataset {
  readonly name: string;
  readonly declaration: DatasetDeclaration;
  readonly corpus: Corpus;
  /** In time order. */
  readonly queries: readonly Query[];
  readonly qrels: Qrels;
  /**
   * By query, the earlier turns whose statement no longer holds when the query is asked, each with the turn that states
   * what holds. Absent if the dataset does not say; a query without such turns may be left out.
   */
  readonly superseded?: Superseded;
  /** The least grade that counts as relevant to metrics that know only relevant and not. */
  readonly relevantGrade: number;
  /** The names of the grades, for example 3 a parent. */
  readonly gradeNames: Readonly<Record<number, string>>;
  /** Conversations that learned parts may be fitted on. */
  readonly devConversations: ReadonlySet<string>;
  /** Counts of rows read, dropped and kept, for display. */
  readonly facts: Readonly<Record<string, number>>;
  /** Identity of the content. */
  readonly hash: string;
}
