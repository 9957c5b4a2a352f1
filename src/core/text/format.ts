/** A word as a POSIX shell reads it back. */
export function quoteShellWord(word: string): string {
  return /^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text for HTML and SVG, in elements and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}

/** Milliseconds since 1970 as `2002-08-22 12:36` in UTC. */
export function formatMinute(timestamp: number): string {
  return new Date(timestamp)
    .toISOString()
    .replace(/:\d\d\.\d+Z$/, '')
    .replace('T', ' ');
}

/** Numbers of tables and figures. The scripts of the report's pages import this file, so it must run in a browser. */

/** Fixed digits without the leading zero, with a true minus: `.496`, `−.030`, `1.000`. */
export function formatDecimal(value: number, digits: number): string {
  const text = Math.abs(value).toFixed(digits);
  const sign = value < 0 && Number(text) > 0 ? '−' : '';
  return sign + text.replace(/^0\./, '.');
}

/** Four significant digits, for scores of any size: `.01639`, `12.34`, `1.2e−7`. */
export function formatSignificant(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e6) return value.toExponential(1).replaceAll('-', '−').replace('+', '');
  const digits = Math.max(0, 3 - Math.floor(Math.log10(size)));
  return formatDecimal(value, Math.min(digits, 5));
}

/** HTML that is safe to put into a page. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

export type Content = Markup | string | number | readonly Content[];

/** Template of HTML: escapes all values, except markup that was made the same way. Lists are joined. */
export function html(parts: TemplateStringsArray, ...contents: readonly Content[]): Markup {
  const texts = contents.map((content, at) => renderContent(content) + (parts[at + 1] as string));
  return new Markup((parts[0] as string) + texts.join(''));
}

function renderContent(content: Content): string {
  if (content instanceof Markup) return content.text;
  if (typeof content === 'object') return content.map(renderContent).join('');
  return escapeHtml(String(content));
}

/** A value as JSON that may stand inside a script element: no text in it can end the element or open a comment. */
export function encodeScriptJson(value: unknown): Markup {
  const escaped = JSON.stringify(value).replace(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return new Markup(escaped);
}
