import { getOrCompute } from '../../core/values/once.ts';

/**
 * Anything that an at sign joins to a host's name: mail addresses, message ids, accounts. The expression looks backwards from the at sign for the first part: forwards,
 * it would try every place of a long word without an at sign.
 */
const ADDRESS = /@(?<=([^\s<>"',;:@(]*[\p{L}\p{N}_.+=)\]}\\-])@)[\p{L}\p{N}][\p{L}\p{N}.-]*/gu;
const WORD = /[\p{L}\p{N}]+/gu;
/** In words. Longer names are not looked for in texts: each word of a text is compared with at most this number of following words. */
const LONGEST_NAME = 12;

interface NameNode {
  label: string | null;
  readonly next: Map<string, NameNode>;
}

/**
 * Replaces names in all output: authors become `person-001`, `person-002` … in order of first appearance, and so do their
 * full names and addresses in texts; other addresses become `address-0001` …. A person is identified by address or by full
 * name (two words or more); without either, each mail has a new person.
 */
export class Pseudonyms {
  readonly #people = new Map<string, string>();
  readonly #addresses = new Map<string, string>();
  readonly #names: NameNode = { label: null, next: new Map() };
  #persons = 0;

  /** Makes an author known and gives the label; authors must come in time order. */
  registerAuthor(name: string, address: string): string {
    const words = splitNameWords(replaceAddresses(name, () => ' '));
    const fullName = words.length >= 2 ? words.join(' ') : null;
    const known = this.#people.get(address) ?? (fullName === null ? undefined : this.#people.get(fullName));
    const label = known ?? `person-${String(++this.#persons).padStart(3, '0')}`;
    if (address !== '' && !this.#people.has(address)) this.#people.set(address, label);
    if (fullName !== null && !this.#people.has(fullName)) {
      this.#people.set(fullName, label);
      if (words.length <= LONGEST_NAME) this.#addName(words, label);
    }
    return label;
  }

  get count(): number {
    return this.#persons;
  }

  /** The text with addresses and full names of known authors replaced. Call it after all authors are known. */
  hide(text: string): string {
    return this.#hideNames(replaceAddresses(text, (address) => this.#replaceAddress(address)));
  }

  #replaceAddress(written: string): string {
    const address = written.toLowerCase().replace(/(?<![.-])[.-]+$/, '');
    const number = () => `address-${String(this.#addresses.size + 1).padStart(4, '0')}`;
    return this.#people.get(address) ?? getOrCompute(this.#addresses, address, number);
  }

  #addName(words: readonly string[], label: string): void {
    let node = this.#names;
    for (const word of words) {
      let next = node.next.get(word);
      if (next === undefined) {
        next = { label: null, next: new Map() };
        node.next.set(word, next);
      }
      node = next;
    }
    node.label ??= label;
  }

  /** Replaces the longest name at each word, left to right. */
  #hideNames(text: string): string {
    const words = [...text.matchAll(WORD)];
    let hidden = '';
    let copied = 0;
    for (let i = 0; i < words.length; ) {
      const match = this.#findLongestName(words, i);
      if (match === null) {
        i++;
        continue;
      }
      const last = words[i + match.length - 1] as RegExpExecArray;
      hidden += text.slice(copied, (words[i] as RegExpExecArray).index) + match.label;
      copied = last.index + last[0].length;
      i += match.length;
    }
    return hidden + text.slice(copied);
  }

  #findLongestName(words: readonly RegExpExecArray[], start: number): { label: string; length: number } | null {
    let node: NameNode | undefined = this.#names;
    let found: { label: string; length: number } | null = null;
    for (let i = start; i < words.length; i++) {
      node = node.next.get((words[i] as RegExpExecArray)[0].toLowerCase());
      if (node === undefined) break;
      if (node.label !== null) found = { label: node.label, length: i - start + 1 };
    }
    return found;
  }
}

/** The text with another text for each address. An address that ends where the next one begins belongs to the first. */
function replaceAddresses(text: string, labelOf: (address: string) => string): string {
  let replaced = '';
  let copied = 0;
  for (const found of text.matchAll(ADDRESS)) {
    if (found.index <= copied) continue;
    const start = Math.max(copied, found.index - (found[1] as string).length);
    const end = found.index + found[0].length;
    replaced += text.slice(copied, start) + labelOf(text.slice(start, end));
    copied = end;
  }
  return replaced + text.slice(copied);
}

function splitNameWords(name: string): string[] {
  return name.toLowerCase().match(WORD) ?? [];
}
