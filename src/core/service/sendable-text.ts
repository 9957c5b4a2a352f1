import { SensitiveTextError, ValidationError } from '../errors/errors.ts';

/**
 * A secret that a header can hold.
 *
 * @throws ValidationError that names the environment variable, and not its value.
 */
export function assertHeaderText(secret: string, variable: string): string {
  if (/^[\t\x20-\x7e\x80-\xff]+$/.test(secret)) return secret;
  throw new ValidationError(
    `the environment variable ${variable} has a line break or a character that no header can hold; export the key again`,
    { variable },
  );
}

declare const cleared: unique symbol;

/** A text that may leave this machine: it passed {@link withholdSensitive} or {@link assertSendable}, or it is the program's own. */
export type SendableText = string & { readonly [cleared]: true };

/** What a request to a service may hold: JSON whose every text is sendable. */
export type Sendable =
  | SendableText
  | number
  | boolean
  | null
  | readonly Sendable[]
  | { readonly [key: string]: Sendable };

/** An item that passed the gate: its texts are sendable. */
export type Cleared<T> = { readonly [K in keyof T]: T[K] extends string ? T[K] & SendableText : T[K] };

/** Items that may leave this machine, and those that may not, both in the order given. */
export interface DividedItems<T> {
  readonly sendable: readonly Cleared<T>[];
  /** These stay on this machine. */
  readonly withheld: readonly T[];
}

/** Divides items by whether they are sensitive. With {@link assertSendable}, the one place where texts of data become sendable. */
export function withholdSensitive<T extends object>(
  items: readonly T[],
  mustStay: (item: T) => boolean,
): DividedItems<T> {
  const sendable: Cleared<T>[] = [];
  const withheld: T[] = [];
  for (const item of items) {
    if (mustStay(item)) withheld.push(item);
    else sendable.push(item as unknown as Cleared<T>);
  }
  return { sendable, withheld };
}

/**
 * For work that needs every item: refuses them all if one is sensitive.
 *
 * @param user what would send them, as the error names it.
 * @throws SensitiveTextError with the number of sensitive items, without their texts.
 */
export function assertSendable<T extends object>(
  items: readonly T[],
  mustStay: (item: T) => boolean,
  user: string,
): readonly Cleared<T>[] {
  const { sendable, withheld } = withholdSensitive(items, mustStay);
  if (withheld.length > 0) throw new SensitiveTextError(user, withheld.length, items.length);
  return sendable;
}

/** States that a text is of the program or of its options, such as a prompt or the name of a model. Not for texts of data. */
export function stateOwnText(text: string): SendableText {
  return text as SendableText;
}

/** JSON of sendable values, as one text. */
export function formatSendable(value: Sendable): SendableText {
  return JSON.stringify(value) as SendableText;
}

/** One sendable text before another. */
export function joinSendable(...parts: readonly SendableText[]): SendableText {
  return parts.join('') as SendableText;
}
