import { type Corpus, findLowerBound } from '../../model/turns/corpus.ts';
import type { SlicePolicy } from '../policies/policy.ts';
import { AdmissibilityError } from '../signatures/admissibility-error.ts';
import type { SliceScope } from '../signatures/slice-export.ts';
import type { TurnGraph } from './turn-graph.ts';

/** The turns of each conversation, author and channel, as positions in time order. */
export class TurnLists {
  readonly #corpus: Corpus;
  readonly #lists = new Map<string, readonly number[]>();

  constructor({ corpus }: Pick<TurnGraph, 'corpus'>) {
    this.#corpus = corpus;
    for (const field of ['conversationId', 'author', 'channel'] as const) {
      const lists = new Map<string, number[]>();
      for (const [position, turn] of corpus.turns.entries()) {
        const value = turn[field];
        if (value === null) continue;
        const list = lists.get(value);
        if (list === undefined) lists.set(value, [position]);
        else list.push(position);
      }
      for (const [value, list] of lists) this.#lists.set(`${field} ${value}`, list);
    }
  }

  /** The turns of a value before a cutoff, in time order; none for a value that no turn has. */
  list(field: 'conversationId' | 'author' | 'channel', value: string | null, cutoff: number): readonly number[] {
    const all = value === null ? [] : (this.#lists.get(`${field} ${value}`) ?? []);
    return all.slice(0, findLowerBound(all, cutoff));
  }

  /** The newest turn of a value before a cutoff; null for none. */
  findNewest(field: 'conversationId' | 'author', value: string | null, cutoff: number): number | null {
    const all = value === null ? [] : (this.#lists.get(`${field} ${value}`) ?? []);
    return all[findLowerBound(all, cutoff) - 1] ?? null;
  }

  /** The position of the turn that a scope names. @throws AdmissibilityError for a turn that does not exist at that moment. */
  #findGiven({ anchorTurnId }: SliceScope, cutoff: number): number | null {
    if (anchorTurnId === null) return null;
    const corpus = this.#corpus;
    const position = corpus.findPosition(anchorTurnId);
    if (position >= 0 && position < cutoff) return position;
    throw new AdmissibilityError(
      'unknown-anchor',
      `anchor is no turn before the query: ${anchorTurnId}; name an earlier turn of the corpus`,
      { anchorTurnId },
    );
  }

  /** Where the walk of a query starts; null if the query has no anchor. */
  findAnchor(policy: Pick<SlicePolicy, 'anchor'>, scope: SliceScope, cutoff: number): number | null {
    if (policy.anchor === 'newest-of-conversation')
      return this.findNewest('conversationId', scope.conversationId, cutoff);
    if (policy.anchor === 'newest-of-author') return this.findNewest('author', scope.author, cutoff);
    return this.#findGiven(scope, cutoff);
  }
}
