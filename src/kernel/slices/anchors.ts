import { getOrCompute } from '../../core/values/once.ts';
import { type Corpus, findLowerBound } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { SlicePolicy } from '../policies/policy.ts';
import { AdmissibilityError } from '../signatures/admissibility-error.ts';
import type { SliceScope } from '../signatures/slice-export.ts';
import { CorpusVersion } from './slice-checks.ts';

/** The fields of a turn that have lists. */
const FIELDS = ['conversationId', 'author', 'channel'] as const;
type ListedField = (typeof FIELDS)[number];

const NONE: readonly number[] = [];

/** Turns that are taken in one after the other in time order. */
class TakenTurns {
  readonly version = new CorpusVersion();
  size = 0;
  readonly #lists: Readonly<Record<ListedField, Map<string, number[]>>> = {
    conversationId: new Map(),
    author: new Map(),
    channel: new Map(),
  };

  /** Takes in the turns of a corpus that come after those so far. */
  takeIn({ turns }: Corpus): void {
    for (const turn of turns.slice(this.size)) {
      this.version.add(turn);
      for (const field of FIELDS) {
        const value = turn[field];
        if (value !== null) getOrCompute(this.#lists[field], value, () => [] as number[]).push(this.size);
      }
      this.size++;
    }
  }

  /** The positions of the turns of a value, ascending. */
  list(field: ListedField, value: string | null): readonly number[] {
    return (value === null ? undefined : this.#lists[field].get(value)) ?? NONE;
  }
}

/**
 * The turns of each conversation, author and channel, as positions in time order. The lists of a corpus that grows are
 * shared: turns that came later have positions above every cutoff of an earlier moment.
 */
export class TurnLists {
  /** The identity of all that slices of the corpus depend on, 16 hex digits. */
  readonly corpusVersion: string;
  readonly #corpus: Corpus;
  readonly #taken: TakenTurns;

  /** @param before of an earlier corpus, see {@link canGrowTo}: then only the later turns are read. */
  constructor(corpus: Corpus, before?: TurnLists) {
    this.#corpus = corpus;
    this.#taken = before?.canGrowTo(corpus) === true ? before.#taken : new TakenTurns();
    this.#taken.takeIn(corpus);
    this.corpusVersion = this.#taken.version.read();
  }

  /** True if a corpus has these turns and later ones, and no other has grown from these. */
  canGrowTo(corpus: Corpus): boolean {
    return this.#taken.size === this.#corpus.size && corpus.startsWith(this.#corpus);
  }

  /** The turns of a value before a cutoff, in time order; none for a value that no turn has. */
  list(field: ListedField, value: string | null, cutoff: number): readonly number[] {
    const all = this.#taken.list(field, value);
    return all.slice(0, findLowerBound(all, cutoff));
  }

  /** The turns before and after one that have its value; none for a turn without a value. */
  listBeside(field: ListedField, position: number): readonly number[] {
    const all = this.#taken.list(field, (this.#corpus.turns[position] as Turn)[field]);
    if (all.length === 0) return all;
    const order = findLowerBound(all, position);
    return [all[order - 1], all[order + 1]].filter((beside) => beside !== undefined);
  }

  /** The newest turn of a value before a cutoff; null for none. */
  findNewest(field: 'conversationId' | 'author', value: string | null, cutoff: number): number | null {
    const all = this.#taken.list(field, value);
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
