import { Pseudonyms } from '../mail/pseudonyms.ts';

/** A person as a source knows one. */
export interface Person {
  /** Empty if the source has none. */
  readonly name: string;
  /** The source's own, which no other person has. */
  readonly id: string;
}

/** Pseudonyms of the people of a source. */
export interface People {
  readonly pseudonyms: Pseudonyms;
  /** For each message the label of its author, null where the source names none. */
  readonly labels: readonly (string | null)[];
}

/** Gives each author a pseudonym, in the order of their first messages. */
export function registerPeople(messages: readonly { readonly time: number; readonly author: Person | null }[]): People {
  const pseudonyms = new Pseudonyms();
  const inOrder = messages
    .map(({ time, author }, i) => ({ time, author, i }))
    .sort((a, b) => a.time - b.time || a.i - b.i);
  const labels = new Array<string | null>(messages.length).fill(null);
  for (const { author, i } of inOrder)
    if (author !== null) labels[i] = pseudonyms.registerAuthor(author.name, author.id);
  return { pseudonyms, labels };
}
