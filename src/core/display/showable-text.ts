declare const shown: unique symbol;

/**
 * A text that displays, reports and messages may hold: it passed {@link showText}, or it is no text of data.
 * Results are shared and notebooks are stored, so what builds them takes no plain string.
 */
export type ShowableText = string & { readonly [shown]: true };

/** In the place of a sensitive text. */
const NOT_SHOWN = stateShown('(sensitive: not shown)');

/** A text of data, or its place holder if it is sensitive. The one place where texts of data become showable. */
export function showText(text: string, isSensitive: boolean): ShowableText {
  return isSensitive ? NOT_SHOWN : (text as ShowableText);
}

/** States that a text is a name, an id, or the program's own words. Not for texts of data. */
export function stateShown(text: string): ShowableText {
  return text as ShowableText;
}

/** A sentence of the program's own words with numbers and showable texts between: phrase`status ${404}`. */
export function phrase(words: TemplateStringsArray, ...values: readonly (ShowableText | number)[]): ShowableText {
  return String.raw({ raw: words }, ...values) as ShowableText;
}

/** The beginning of a showable text on one line. @param most characters, the ellipsis included. */
export function shortenShown(text: ShowableText, most: number): ShowableText {
  const line = text.replace(/\s+/g, ' ').trim();
  return (line.length > most ? `${line.slice(0, most - 1)}…` : line) as ShowableText;
}
