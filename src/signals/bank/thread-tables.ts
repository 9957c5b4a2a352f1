import { conversationPositions } from '../../model/conversation-positions.ts';
import { type Corpus, lowerBound } from '../../model/corpus.ts';
import { depthsOf } from '../../trajectory/frame-tables.ts';

/** The replies and participants of threads, from which each figure is computed as of any moment. */
export class ThreadTables {
  readonly depth: Int32Array;
  readonly #corpus: Corpus;
  readonly #conversations: readonly Int32Array[];
  /** Positions of each turn's answers, ascending. */
  readonly #children: readonly number[][];
  /** For each conversation, the place at which each author first spoke. */
  readonly #firstPlace: readonly ReadonlyMap<string, number>[];
  /** [N] authors who had spoken in the conversation up to this turn. */
  readonly #speakers: Int32Array;

  constructor(corpus: Corpus) {
    this.#corpus = corpus;
    this.depth = depthsOf(corpus.parent);
    this.#conversations = conversationPositions(corpus);
    const children: number[][] = Array.from(corpus.turns, () => []);
    for (const [position, parent] of corpus.parent.entries()) if (parent >= 0) children[parent]?.push(position);
    this.#children = children;
    this.#speakers = new Int32Array(corpus.size);
    this.#firstPlace = this.#conversations.map((turns) => {
      const first = new Map<string, number>();
      for (const [place, position] of turns.entries()) {
        const author = corpus.turns[position]?.author ?? null;
        if (author !== null && !first.has(author)) first.set(author, place);
        this.#speakers[position] = first.size;
      }
      return first;
    });
  }

  /** Turns of the candidate's conversation before the cutoff. */
  size(position: number, cutoff: number): number {
    return lowerBound(this.#turns(position), cutoff);
  }

  #turns(position: number): Int32Array {
    return this.#conversations[this.#corpus.conversationOf[position] as number] as Int32Array;
  }

  /** The newest turn of the candidate's conversation before the cutoff. */
  newest(position: number, cutoff: number): number {
    return this.#turns(position)[this.size(position, cutoff) - 1] as number;
  }

  children(position: number, cutoff: number): number {
    return lowerBound(this.#children[position] as number[], cutoff);
  }

  /** The authors among them, as of the cutoff. */
  speakers(position: number, cutoff: number): number {
    return this.#speakers[this.newest(position, cutoff)] as number;
  }

  hasSpoken(author: string, position: number, cutoff: number): boolean {
    const first = this.#firstPlace[this.#corpus.conversationOf[position] as number]?.get(author);
    return first !== undefined && first < this.size(position, cutoff);
  }

  /** Whether one of the turn's answers before the cutoff is by this author. */
  isAnsweredBy(author: string, position: number, cutoff: number): boolean {
    return (this.#children[position] as number[]).some(
      (child) => child < cutoff && this.#corpus.turns[child]?.author === author,
    );
  }
}
