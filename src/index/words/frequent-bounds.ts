import { BLOCK, CLASSES, type WordList, type WordLists } from './word-lists.ts';

/** A word of a query that many turns hold. */
interface FrequentWord {
  readonly list: WordList;
  readonly weight: number;
  /** The most that the word can add to a score. */
  readonly most: number;
}

/** Words that are bounded together: what each is rounded up by takes at most this many of 255 units. */
export const MOST_FREQUENT = 64;
const LARGEST = 255;
/** Bytes of a word in the memory of the kernel. */
const WORD = 32;
/** More than the quotients below are rounded. */
const MARGIN = 1 + 1e-9;

/**
 * Upper bounds of what the frequent words of a query add to the score of each turn, in whole units. The bounds of 16
 * turns are added at once, each from the class of the turn's share: to bound all turns costs less than to score a few.
 */
export class FrequentBounds {
  readonly #lists: WordLists;
  readonly #words: number;
  #room = 0;
  #end = 0;
  /** Place of uint8 [N] bounds, and room up to a multiple of {@link BLOCK}. */
  place = 0;
  /** Score that a bound of 1 stands for; 0: nothing is bounded. */
  unit = 0;

  constructor(lists: WordLists) {
    this.#lists = lists;
    this.#words = lists.memory.allocate(WORD * MOST_FREQUENT);
  }

  makeRoom(turns: number): void {
    if (turns <= this.#room) return;
    this.#room = turns;
    this.place = this.#lists.memory.allocate(turns + BLOCK);
  }

  clear(): void {
    this.unit = 0;
  }

  /**
   * Bounds the turns before a cutoff.
   *
   * @param words at most {@link MOST_FREQUENT}, and at least one.
   * @param marks place of uint8 [N], 1 for the turns that are bounded, 0 for others; null: all are.
   */
  fill(words: readonly FrequentWord[], cutoff: number, marks: number | null): void {
    const { mostOf, memory } = this.#lists;
    const { kernel, uint8, int32 } = memory;
    this.unit = words.reduce((sum, { most }) => sum + most, 0) / (LARGEST - words.length);
    for (const [i, { list, weight, most }] of words.entries()) {
      const word = this.#words + WORD * i;
      for (let c = 0; c < CLASSES; c++)
        uint8[word + c] = Math.ceil((Math.min(most, weight * mostOf[c]!) / this.unit) * MARGIN);
      int32[(word + CLASSES) >> 2] = list.classes;
    }
    this.#end = BLOCK * Math.ceil(cutoff / BLOCK);
    kernel.fillBounds(this.#words, words.length, this.place, this.#end);
    if (marks !== null) kernel.maskBounds(marks, this.place, this.#end);
    uint8.fill(0, this.place + cutoff, this.place + this.#end);
  }

  /** The least bound above 0 with which a turn can reach a score. */
  findLeast(score: number): number {
    return Math.max(1, Math.floor(score / this.unit / MARGIN));
  }

  /** The turns whose bound reaches a number. */
  count(least: number): number {
    return least > LARGEST ? 0 : this.#lists.memory.kernel.countBounds(this.place, this.#end, least);
  }

  /** Writes the turns whose bound reaches a number to a place, ascending. @returns how many */
  list(least: number, out: number): number {
    return least > LARGEST ? 0 : this.#lists.memory.kernel.listBounds(this.place, this.#end, least, out);
  }
}
