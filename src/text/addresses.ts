const ADDRESS = /\b(?:[a-z]+:\/\/|www\.)\S+|(?<!\S)\S+@\S+/gi;

/** A text whose web and mail addresses are blanks: the rest stands where it stood. */
export function blankAddresses(text: string): string {
  return text.replace(ADDRESS, (address) => ' '.repeat(address.length));
}
