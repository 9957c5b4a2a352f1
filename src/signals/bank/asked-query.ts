import type { Query } from '../../model/dataset.ts';
import { entitiesOf } from '../../text/entities.ts';
import { type QuestionKind, questionKind } from '../../text/question-kind.ts';
import { timeRanges } from '../../text/time-expressions.ts';
import { type AuthorNames, callNames } from './author-names.ts';

/** A query as the signals see it. */
export interface AskedQuery {
  readonly query: Query;
  /** Turns of its scope that there are. */
  readonly cutoff: number;
  readonly kind: QuestionKind;
  readonly entities: ReadonlySet<string>;
  /** The times that it names, in milliseconds, half open. */
  readonly ranges: readonly { readonly from: number; readonly to: number }[];
  /** Authors of the scope whom it names. */
  readonly named: ReadonlySet<string>;
  /** What the asker is called by; empty where nobody knows who asks. */
  readonly askerNames: readonly string[];
}

/** @param authors of the scope. */
export function askedQuery(query: Query, cutoff: number, authors: AuthorNames): AskedQuery {
  return {
    query,
    cutoff,
    kind: questionKind(query.text),
    entities: entitiesOf(query.text),
    ranges: timeRanges(query.text, query.timestamp),
    named: authors.namedIn(query.text, cutoff),
    askerNames: query.author === null ? [] : callNames(query.author),
  };
}
