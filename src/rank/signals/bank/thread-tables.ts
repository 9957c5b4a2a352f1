import { GrowingArray } from '../../../core/numbers/growing-array.ts';
import { type Corpus, findLowerBound } from '../../../model/turns/corpus.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import { fillDepths } from '../../../ops/trajectory/frame-tables.ts';

/** The replies and participants of threads, from which each figure is computed as of any moment. */
export class ThreadTables {
  #corpus: Corpus;
  readonly #depth = new GrowingArray(new Int32Array(0));
  /** Positions of each conversation's turns, ascending. */
  readonly #conversations: number[][] = [];
  /** Positions of each turn's answers, ascending. */
  readonly #children: number[][] = [];
  /** For each conversation, the place at which each author first spoke. */
  readonly #firstStep: Map<string, number>[] = [];
  /** [N] authors who had spoken in the conversation up to this turn. */
  readonly #speakers = new GrowingArray(new Int32Array(0));

  constructor(corpus: Corpus) {
    this.#corpus = corpus;
    this.append(corpus);
  }

  /** Takes in the turns of a corpus after those that there are, which are its first: O(1) for each. */
  append(corpus: Corpus): void {
    const first = this.#depth.length;
    this.#corpus = corpus;
    for (const array of [this.#depth, this.#speakers]) array.extend(corpus.size - first);
    fillDepths(this.depth, corpus.parent, first);
    while (this.#children.length < corpus.size) this.#children.push([]);
    for (let position = first; position < corpus.size; position++) {
      this.#children[corpus.parent[position] as number]?.push(position);
      this.#speakers.numbers[position] = this.#enter(position, corpus.turns[position] as Turn);
    }
  }

  /** @returns authors who have spoken in the turn's conversation. */
  #enter(position: number, { author }: Turn): number {
    const conversation = this.#corpus.conversationOf[position] as number;
    while (this.#conversations.length <= conversation) {
      this.#conversations.push([]);
      this.#firstStep.push(new Map());
    }
    const step = (this.#conversations[conversation] as number[]).push(position) - 1;
    const first = this.#firstStep[conversation] as Map<string, number>;
    if (author !== null && !first.has(author)) first.set(author, step);
    return first.size;
  }

  /** [N] turns above each turn. */
  get depth(): Int32Array {
    return this.#depth.numbers;
  }

  /** Turns of the candidate's conversation before the cutoff. */
  countThreadTurns(position: number, cutoff: number): number {
    return findLowerBound(this.#getConversationTurns(position), cutoff);
  }

  #getConversationTurns(position: number): readonly number[] {
    return this.#conversations[this.#corpus.conversationOf[position] as number] as number[];
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
    return this.#speakers.numbers[this.findNewestBefore(position, cutoff)] as number;
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
