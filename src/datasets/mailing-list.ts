import type { Header } from 'postal-mime';

/** Headers that name a list outright, most telling first, and what of their value is its id. */
const NAMING: readonly (readonly [key: string, id: RegExp])[] = [
  ['list-id', /<([^<>\s]+)>\s*$/],
  ['x-beenthere', /([^\s<>@,;]+@[^\s<>@,;]+)/],
  ['mailing-list', /(?:list|contact)\s+([^\s<>@,;]+@[^\s<>@,;]+)/],
  ['delivered-to', /mailing list\s+([^\s<>@,;]+@[^\s<>@,;]+)/],
  ['x-mailing-list', /<?([^\s<>@,;]+@[^\s<>@,;]+)/],
  ['list-post', /mailto:([^\s<>@,;]+@[^\s<>@,;]+)/],
];

/** `owner-x`, `x-admin` and the like are how a list's own machinery signs. */
const MACHINERY = /^owner-([^\s@]+)@|([^\s<>@"]+)-(?:admin|owner|bounces|request)@/i;

/**
 * The id of the mailing list that a mail came over, in the form of List-Id (`ilug.linux.ie`); null where it came over none. Where no header names the list, the
 * Sender of the list's machinery does.
 */
export function mailingListOf(headers: readonly Header[]): string | null {
  for (const [key, id] of NAMING) {
    for (const header of headers) {
      const found = header.key === key ? id.exec(header.value)?.[1] : undefined;
      if (found !== undefined) return found.replace(/(?:-help)?@/, '.').toLowerCase();
    }
  }
  const sender = headers.find((header) => header.key === 'sender')?.value ?? '';
  const machinery = MACHINERY.exec(sender);
  const domain = /@([\w.-]+)/.exec(sender)?.[1];
  return machinery === null || domain === undefined ? null : `${machinery[1] ?? machinery[2]}.${domain}`.toLowerCase();
}
