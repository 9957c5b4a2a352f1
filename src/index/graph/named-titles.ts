import { getOrCompute } from '../../core/values/once.ts';
import { createTokeniser, dropPossessive } from '../../model/text/tokens.ts';
import { findLowerBound } from '../../model/turns/corpus.ts';

/** Memories of one title that texts may name: the earliest. More of them make a label, such as the subject of a mailing, and not the name of a thing. */
const TITLE_MEMORIES = 16;
/** Of a title that is one word. */
const SHORTEST_WORD = 3;
/** Words of a title that texts may name: what is longer is a sentence. It bounds what looking for titles costs at each word of a text. */
const LONGEST_TITLE = 24;

const splitIntoTerms = createTokeniser({ dropStopWords: false, stem: false });
/** A text names Rome by `Rome's`. */
const splitIntoWords = (text: string) => splitIntoTerms(text).map(dropPossessive);
const splitIntoContentWords = createTokeniser({ dropStopWords: true, stem: false });

/** A title without what is between brackets at its end. */
function dropBrackets(title: string): string {
  const trimmed = title.trim();
  const opening = trimmed.lastIndexOf('(');
  // A closing bracket before the last one belongs to another pair.
  const isPair = opening > 0 && trimmed.indexOf(')', opening) === trimmed.length - 1;
  return isPair ? trimmed.slice(0, opening) : title;
}

/**
 * The words of a title that texts are searched for, in lower case; what is between brackets at its end distinguishes things of one name, and no text has it. Empty for
 * a title that says too little (one word that is a stop word, has fewer than 3 characters or is a number) and for one of more than 24 words.
 */
export function parseTitleWords(title: string): string[] {
  const words = splitIntoWords(dropBrackets(title));
  const [first = ''] = words;
  if (words.length > LONGEST_TITLE) return [];
  if (words.length !== 1) return words;
  const tells = first.length >= SHORTEST_WORD && !/^\p{N}+$/u.test(first) && splitIntoContentWords(first).length > 0;
  return tells ? words : [];
}

/** A title as the memories that have it and those whose text holds it, by number, ascending. */
interface Title {
  readonly words: readonly number[];
  readonly memories: number[];
  readonly namedBy: number[];
}

/** What a memory names and is named by, by number, ascending, each once. */
export interface Namings {
  /** The earlier memories whose title its text holds. */
  readonly names: readonly number[];
  /** The earlier memories whose text holds its title. */
  readonly namedBy: readonly number[];
}

/** Titles that begin with the same words. */
interface Branch {
  readonly next: Map<number, Branch>;
  title: Title | null;
}

const createBranch = (): Branch => ({ next: new Map(), title: null });

/** Which texts hold which titles as whole words in a row, for memories that arrive one after the other. A memory that names itself does not count. */
export class NamedTitles {
  /** Words and postings that were looked at so far. */
  operations = 0;
  readonly #numberOf = new Map<string, number>();
  /** [memories] the words of each text, as numbers. */
  readonly #texts: Int32Array[] = [];
  /** [words] the memories whose text holds each word, ascending. */
  readonly #postings: number[][] = [];
  readonly #root = createBranch();

  /**
   * Takes in the next memory. Costs the words of its text and, for the first memory of a title, the earlier texts that hold the rarest word of the title.
   */
  add(text: string, title: string | null): Namings {
    const memory = this.#texts.length;
    const words = Int32Array.from(splitIntoWords(text), (word) => this.#number(word));
    this.#texts.push(words);
    this.operations += words.length;
    for (const word of new Set(words)) (this.#postings[word] as number[]).push(memory);
    const own = title === null ? null : this.#enter(title, memory);
    const names = new Set<number>();
    for (const named of this.#findTitles(words)) {
      for (const other of named.memories) if (other !== memory) names.add(other);
      named.namedBy.push(memory);
    }
    return {
      names: [...names].sort((a, b) => a - b),
      namedBy: own === null ? [] : own.namedBy.filter((other) => other !== memory),
    };
  }

  /** The memories of each title that a text holds, by number, ascending. The text is no memory. */
  find(text: string): (readonly number[])[] {
    const words = Int32Array.from(splitIntoWords(text), (word) => this.#numberOf.get(word) ?? -1);
    return Array.from(this.#findTitles(words), ({ memories }) => memories);
  }

  #number(word: string): number {
    return getOrCompute(this.#numberOf, word, () => this.#postings.push([]) - 1);
  }

  /** @returns the title with the memory among those that have it; null where it says too little or enough memories have it. */
  #enter(title: string, memory: number): Title | null {
    const words = parseTitleWords(title).map((word) => this.#number(word));
    if (words.length === 0) return null;
    let branch = this.#root;
    for (const word of words) branch = getOrCompute(branch.next, word, createBranch);
    branch.title ??= { words, memories: [], namedBy: this.#findTexts(words, memory) };
    if (branch.title.memories.length === TITLE_MEMORIES) return null;
    branch.title.memories.push(memory);
    return branch.title;
  }

  /** The texts of earlier memories that hold some words in a row. Those that hold the two rarest words, which are few, are read. */
  #findTexts(words: readonly number[], before: number): number[] {
    const [rarest, second = rarest] = [...new Set(words)]
      .map((word) => this.#postings[word] as number[])
      .sort((a, b) => a.length - b.length) as [number[], number[]?];
    this.operations += rarest.length;
    return rarest.filter(
      (memory) =>
        memory < before &&
        second[findLowerBound(second, memory)] === memory &&
        this.#holds(this.#texts[memory] as Int32Array, words),
    );
  }

  #holds(text: Int32Array, words: readonly number[]): boolean {
    this.operations += text.length;
    for (let start = text.indexOf(words[0] as number); start >= 0; start = text.indexOf(words[0] as number, start + 1))
      if (words.every((word, i) => text[start + i] === word)) return true;
    return false;
  }

  /** The titles that a text holds, in the order of their first words. */
  #findTitles(words: Int32Array): Set<Title> {
    const found = new Set<Title>();
    for (let start = 0; start < words.length; start++) {
      let branch = this.#root.next.get(words[start] as number);
      for (let end = start + 1; branch !== undefined; end++) {
        this.operations++;
        if (branch.title !== null) found.add(branch.title);
        branch = end < words.length ? branch.next.get(words[end] as number) : undefined;
      }
    }
    return found;
  }
}
