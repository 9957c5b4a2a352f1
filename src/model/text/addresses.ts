const ADDRESS = /\b(?:[a-z]+:\/\/|www\.)\S+|(?<!\S)\S+@\S+/gi;

/** Replaces web and mail addresses by blanks; other text keeps its position. */
export function replaceByBlanks(text: string): string {
  return text.replace(ADDRESS, (address) => ' '.repeat(address.length));
}
