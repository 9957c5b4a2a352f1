import type { Header } from 'postal-mime';

const WORD = '[^\\s<>@,;]+';
/** An address. The expression looks backwards from the `@` for its first part: forwards, it would try every place of a long word without an `@`. */
const ADDRESS = new RegExp(`@(?<=(${WORD})@)(${WORD})`);

/** Headers that name a list outright, most telling first, and what of their value is its id: the groups of the expression, joined. */
const NAMING: readonly (readonly [key: string, id: RegExp])[] = [
  ['list-id', /<([^<>\s]+)>\s*$/],
  ['x-beenthere', ADDRESS],
  ['mailing-list', new RegExp(`(?:list|contact)\\s+(${WORD})@(${WORD})`)],
  ['delivered-to', new RegExp(`mailing list\\s+(${WORD})@(${WORD})`)],
  ['x-mailing-list', ADDRESS],
  ['list-post', new RegExp(`@(?<=mailto:(${WORD})@)(${WORD})`)],
];

/** `owner-x`, `x-admin` and the like are how a list's own machinery signs. */
const OWNER = /^owner-([^\s@]+)@/i;
const MACHINERY = /@(?<=([^\s<>@"]+)-(?:admin|owner|bounces|request)@)/i;

/**
 * The id of the mailing list that a mail came over, in the form of List-Id (`ilug.linux.ie`); null for a mail of no list. If no header names the list, the
 * Sender of the list's machinery does.
 */
export function readMailingList(headers: readonly Header[]): string | null {
  for (const [key, id] of NAMING) {
    for (const header of headers) {
      const found = header.key === key ? id.exec(header.value) : null;
      if (found !== null)
        return found
          .slice(1)
          .join('@')
          .replace(/(?:-help)?@/, '.')
          .toLowerCase();
    }
  }
  const sender = headers.find((header) => header.key === 'sender')?.value ?? '';
  const machinery = OWNER.exec(sender) ?? MACHINERY.exec(sender);
  const domain = /@([\w.-]+)/.exec(sender)?.[1];
  return machinery === null || domain === undefined ? null : `${machinery[1]}.${domain}`.toLowerCase();
}
