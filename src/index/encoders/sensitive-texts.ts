import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { assertSendable, type SendableText } from '../../core/service/sendable-text.ts';
import type { TextOwner } from '../../model/encoder.ts';

/** @throws DimensionMismatchError when owners are given, but not one for each text. */
export function assertOneOwnerEach(texts: readonly string[], owners: readonly TextOwner[] | undefined): void {
  if (owners !== undefined && owners.length !== texts.length)
    throw new DimensionMismatchError('owners of texts', texts.length, owners.length, 'pass one owner for each text');
}

/** The texts with a sensitive owner. A text of several owners is sensitive if one of them is. */
export function listSensitiveTexts(
  texts: readonly string[],
  owners: readonly TextOwner[] | undefined,
): ReadonlySet<string> {
  return new Set(texts.filter((_, i) => owners?.[i]?.sensitive === true));
}

/**
 * The texts as they may be sent.
 *
 * @param user what sends them, as the error names it.
 * @throws SensitiveTextError if a text has a sensitive owner.
 */
export function assertTextsSendable(
  texts: readonly string[],
  owners: readonly TextOwner[] | undefined,
  user: string,
): readonly SendableText[] {
  const sensitive = listSensitiveTexts(texts, owners);
  const items = texts.map((text) => ({ text }));
  return assertSendable(items, ({ text }) => sensitive.has(text), user).map(({ text }) => text);
}
