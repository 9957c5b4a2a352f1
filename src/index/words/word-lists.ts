import { PostingMemory } from './posting-kernel.ts';

/** The turns that hold each word, in time order. */
export interface WordPostings {
  /** N. */
  readonly size: number;
  /** [N] words of each turn. */
  readonly lengths: Float64Array;
  /** [N + 1] words of the turns before each position. */
  readonly lengthBefore: Float64Array;
  countQueryTerms(text: string): ReadonlyMap<string, number>;
  listPostingsBefore(
    word: string,
    cutoff: number,
  ): readonly { readonly positions: Int32Array; readonly counts: Float64Array }[];
}

/** The saturated frequency of BM25: rises with `tf`, and never with `ratio`, the length beside the average. */
export type Saturate = (tf: number, ratio: number) => number;

/** The turns that hold a word, by places in the memory of the kernel. */
export interface WordList {
  positions: number;
  pairs: number;
  /** 0 for a word that few turns hold, and then no classes. */
  dense: number;
  /** uint8 [N] the class of each turn's pair, 0 without the word, and room up to a multiple of {@link BLOCK}. */
  classes: number;
  length: number;
  capacity: number;
  /** Turns that `dense` and `classes` have room for. */
  turns: number;
  /** N when it was last made longer. */
  size: number;
  /** The numbers of the pairs that no other pair of the word has a larger share than. */
  readonly best: number[];
}

/** Pairs of frequency and length that are distinguished; others are rounded to at most 32 x 256 pairs more. */
const EXACT_PAIRS = 8192;
const PAIRS = EXACT_PAIRS + 2 ** 13;
/** Pairs with about the same share are of one class; 0 stands for turns without the word. */
export const CLASSES = 16;
/** Turns that the kernel takes at once. */
export const BLOCK = 64;
/** A word has an array of all turns if more than this fraction of the turns holds it: 1 in 16. */
const DENSE = 16;
/** The share of a frequency whose own is too small for float64: found, as far as the kernel sees. */
const LEAST_SHARE = 1e-300;

/** A power of two that is not below. */
const roundFrequency = (tf: number) => 2 ** Math.ceil(Math.log2(tf));

/** A number of three leading bits that is not above. */
function roundLength(length: number): number {
  const unit = 2 ** Math.max(0, Math.floor(Math.log2(length)) - 3);
  return unit * Math.floor(length / unit);
}

/**
 * The turns of each word that was asked for, in the memory of a kernel, with the pair of frequency and length that each
 * turn has: of all turns there are few pairs, and the share of a pair in a score is computed once for an average
 * length. A word takes 6 bytes for each of its turns, and 3 for every turn if more than one of {@link DENSE} holds it.
 */
export class WordLists {
  readonly memory = new PostingMemory();
  readonly #postings: WordPostings;
  readonly #saturate: Saturate;
  readonly #lists = new Map<string, WordList | null>();
  /** By length, by frequency, the number of a pair. */
  readonly #pairOf: number[][] = [];
  /** By number; 0 stands for turns without the word. */
  readonly #frequencies = [0];
  readonly #lengths = [1];
  readonly #classOf = new Uint8Array(PAIRS);
  /** The largest share of each class, as of an average. */
  readonly mostOf = new Float64Array(CLASSES);
  /** Times that a list became longer, and the last of them that had each pair. */
  #extensions = 0;
  readonly #seenIn = new Int32Array(PAIRS);
  /** False if a pair was rounded, so that shares are upper bounds. */
  isExact = true;
  /** Place of float64 [pairs], as of an average. */
  readonly shares: number;
  #average = 0;
  #filled = 1;

  constructor(postings: WordPostings, saturate: Saturate) {
    this.#postings = postings;
    this.#saturate = saturate;
    this.shares = this.memory.allocate(8 * PAIRS);
  }

  /** The turns that hold a word; null if none does. */
  find(word: string): WordList | null {
    const { size } = this.#postings;
    let list = this.#lists.get(word);
    if (list === undefined || list?.size !== size) {
      list = this.#extend(word, list ?? null);
      this.#lists.set(word, list);
    }
    return list;
  }

  /** The entries of a list before a cutoff. */
  countBefore({ positions, length }: WordList, cutoff: number): number {
    const { int32 } = this.memory;
    const first = positions >> 2;
    let [low, high] = [0, length];
    if (int32[first + length - 1]! < cutoff) return length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (int32[first + middle]! < cutoff) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Computes the shares of all pairs at an average length. */
  fillShares(average: number): void {
    if (average !== this.#average) {
      this.#filled = 1;
      this.mostOf.fill(0);
    }
    this.#average = average;
    const shares = this.memory.float64.subarray(this.shares >> 3);
    for (; this.#filled < this.#lengths.length; this.#filled++) {
      const ratio = this.#lengths[this.#filled]! / average;
      const share = Math.max(LEAST_SHARE, this.#saturate(this.#frequencies[this.#filled]!, ratio));
      shares[this.#filled] = share;
      const pairClass = this.#classOf[this.#filled]!;
      this.mostOf[pairClass] = Math.max(this.mostOf[pairClass]!, share);
    }
  }

  /** The largest share of a word at the average of {@link fillShares}. */
  findMost({ best }: WordList): number {
    const { float64 } = this.memory;
    let most = 0;
    for (const pair of best) most = Math.max(most, float64[(this.shares >> 3) + pair]!);
    return most;
  }

  /** Appends what came since the list was last asked for. */
  #extend(word: string, before: WordList | null): WordList | null {
    const { size, lengths } = this.#postings;
    const parts = this.#postings.listPostingsBefore(word, size);
    const length = parts.reduce((sum, { positions }) => sum + positions.length, 0);
    if (length === 0) return null;
    const places = { positions: 0, pairs: 0, dense: 0, classes: 0 };
    const list = before ?? { ...places, length: 0, capacity: 0, turns: 0, size: 0, best: [] };
    this.#makeRoom(list, length);
    const { int32, uint16, uint8 } = this.memory;
    const [firstPosition, firstPair] = [list.positions >> 2, list.pairs >> 1];
    const extension = ++this.#extensions;
    let skipped = list.length;
    for (const { positions, counts } of parts) {
      for (let entry = Math.min(skipped, positions.length); entry < positions.length; entry++) {
        const position = positions[entry]!;
        const pair = this.#numberPair(counts[entry]!, lengths[position]!);
        int32[firstPosition + list.length] = position;
        uint16[firstPair + list.length++] = pair;
        if (list.dense > 0) {
          uint16[(list.dense >> 1) + position] = pair;
          uint8[list.classes + position] = this.#classOf[pair]!;
        }
        if (this.#seenIn[pair] !== extension) this.#compete(list, pair);
        this.#seenIn[pair] = extension;
      }
      skipped = Math.max(0, skipped - positions.length);
    }
    list.size = size;
    return list;
  }

  /** Keeps a pair whose share may be the largest of a word. */
  #compete({ best }: WordList, pair: number): void {
    const [tf, length] = [this.#frequencies[pair]!, this.#lengths[pair]!];
    const isBelow = (other: number) => this.#frequencies[other]! >= tf && this.#lengths[other]! <= length;
    if (best.some(isBelow)) return;
    const isAbove = (other: number) => this.#frequencies[other]! > tf || this.#lengths[other]! < length;
    best.splice(0, best.length, ...best.filter(isAbove), pair);
  }

  /** Room for the entries of a list, twice as many where it grows. */
  #makeRoom(list: WordList, length: number): void {
    const { memory } = this;
    const { size } = this.#postings;
    if (length > list.capacity) {
      list.capacity = list.length === 0 ? length : 2 * length;
      const [positions, pairs] = [memory.allocate(4 * list.capacity), memory.allocate(2 * list.capacity)];
      memory.int32.copyWithin(positions >> 2, list.positions >> 2, (list.positions >> 2) + list.length);
      memory.uint16.copyWithin(pairs >> 1, list.pairs >> 1, (list.pairs >> 1) + list.length);
      [list.positions, list.pairs] = [positions, pairs];
    }
    if (length * DENSE <= size) [list.dense, list.turns] = [0, 0];
    if (length * DENSE <= size || size <= list.turns) return;
    list.turns = list.length === 0 ? size : 2 * size;
    [list.dense, list.classes] = [memory.allocate(2 * list.turns), memory.allocate(list.turns + BLOCK)];
    const { int32, uint16, uint8 } = memory;
    for (let entry = 0; entry < list.length; entry++) {
      const position = int32[(list.positions >> 2) + entry]!;
      const pair = uint16[(list.pairs >> 1) + entry]!;
      uint16[(list.dense >> 1) + position] = pair;
      uint8[list.classes + position] = this.#classOf[pair]!;
    }
  }

  /** The number of a pair; of a rounded pair with a share that is not below where there are too many. */
  #numberPair(tf: number, length: number): number {
    const known = this.#pairOf[length]?.[tf];
    if (known !== undefined) return known;
    const isRounded = this.#lengths.length > EXACT_PAIRS;
    const [frequency, rounded] = isRounded ? [roundFrequency(tf), roundLength(length)] : [tf, length];
    if (frequency !== tf || rounded !== length) this.isExact = false;
    this.#pairOf[rounded] ??= [];
    const row = this.#pairOf[rounded];
    if (row[frequency] === undefined) {
      row[frequency] = this.#lengths.push(rounded) - 1;
      this.#frequencies.push(frequency);
      this.#classOf[row[frequency]] = this.#classify(frequency, rounded);
    }
    return row[frequency]!;
  }

  /** The class of a pair, by its share at the average length of all turns. */
  #classify(tf: number, length: number): number {
    const { size, lengthBefore } = this.#postings;
    const average = lengthBefore[size]! / size;
    const [low, high] = [this.#saturate(1, 4), this.#saturate(8, 0.5)]; // hardly any share is outside
    const step = (this.#saturate(tf, length / average) - low) / (high - low);
    return 1 + Math.min(CLASSES - 2, Math.max(0, Math.floor(step * (CLASSES - 1)) || 0));
  }
}
