import { type Corpus, findLowerBound, listConversationPositions } from '../../../model/turns/corpus.ts';
import { computeDepths } from '../../../ops/trajectory/frame-tables.ts';

/** The replies and participants of threads, from which each figure is computed as of any moment. */
export class ThreadTables {
  readonly depth: Int32Array;
  readonly #corpus: Corpus;
  readonly #conversations: readonly Int32Array[];
  /** Positions of each turn's answers, ascending. */
  readonly #children: readonly number[][];
  /** For each conversation, the place at which each author first spoke. */
  readonly #firstStep: readonly ReadonlyMap<string, number>[];
  /** [N] authors who had spoken in the conversation up to this turn. */
  readonly #speakers: Int32Array;

  constructor(corpus: Corpus) {
    this.#corpus = corpus;
    this.depth = computeDepths(corpus.parent);
    this.#conversations = listConversationPositions(corpus);
    const children: number[][] = Array.from(corpus.turns, () => []);
    for (const [position, parent] of corpus.parent.entries()) if (parent >= 0) children[parent]?.push(position);
    this.#children = children;
    this.#speakers = new Int32Array(corpus.size);
    this.#firstStep = this.#conversations.map((turns) => {
      const first = new Map<string, number>();
      for (const [step, position] of turns.entries()) {
        const author = corpus.turns[position]?.author ?? null;
        if (author !== null && !first.has(author)) first.set(author, step);
        this.#speakers[position] = first.size;
      }
      return first;
    });
  }

  /** Turns of the candidate's conversation before the cutoff. */
  countThreadTurns(position: number, cutoff: number): number {
    return findLowerBound(this.#getConversationTurns(position), cutoff);
  }

  #getConversationTurns(position: number): Int32Array {
    return this.#conversations[this.#corpus.conversationOf[position] as number] as Int32Array;
  }

  /** The newest turn of the candidate's conversation before the cutoff. */
  findNewestBefore(position: number, cutoff: number): number {
    return this.#getConversationTurns(position)[this.countThreadTurns(position, cutoff) - 1] as number;
  }

  countChildrenBefore(position: number, cutoff: number): number {
    return findLowerBound(this.#children[position] as number[], cutoff);
  }

  /** The authors among them, as of the cutoff. */
  countSpeakers(position: number, cutoff: number): number {
    return this.#speakers[this.findNewestBefore(position, cutoff)] as number;
  }

  hasSpoken(author: string, position: number, cutoff: number): boolean {
    const first = this.#firstStep[this.#corpus.conversationOf[position] as number]?.get(author);
    return first !== undefined && first < this.countThreadTurns(position, cutoff);
  }

  /** True if one of the turn's answers before the cutoff is by this author. */
  isAnsweredBy(author: string, position: number, cutoff: number): boolean {
    return (this.#children[position] as number[]).some(
      (child) => child < cutoff && this.#corpus.turns[child]?.author === author,
    );
  }
}
