import type { Query } from '../../../model/dataset.ts';
import { findEntities } from '../../../model/text/entities.ts';
import { classifyQuestion, type QuestionKind } from '../../../model/text/question-kind.ts';
import { timeRanges } from '../../../model/text/times/time-expressions.ts';
import { type AuthorNames, listCallNames } from './author-names.ts';

/** A query as the signals see it. */
export interface AskedQuery {
  readonly query: Query;
  /** Turns of its subcorpus that there are. */
  readonly cutoff: number;
  readonly kind: QuestionKind;
  readonly entities: ReadonlySet<string>;
  /** The times that it names, in milliseconds, half open. */
  readonly ranges: readonly { readonly from: number; readonly to: number }[];
  /** Authors of the subcorpus whom it names. */
  readonly named: ReadonlySet<string>;
  /** What the asker is called by; empty where nobody knows who asks. */
  readonly askerNames: readonly string[];
}

/** @param authors of the subcorpus. */
export function readAskedQuery(query: Query, cutoff: number, authors: AuthorNames): AskedQuery {
  return {
    query,
    cutoff,
    kind: classifyQuestion(query.text),
    entities: findEntities(query.text),
    ranges: timeRanges(query.text, query.timestamp),
    named: authors.findNamedAuthors(query.text, cutoff),
    askerNames: query.author === null ? [] : listCallNames(query.author),
  };
}
