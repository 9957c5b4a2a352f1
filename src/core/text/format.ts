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

/** The farthest time from 1970, in milliseconds, that a date can be: 100 million days. */
const FARTHEST_TIME = 8.64e15;

/** True if a number of milliseconds since 1970 is a time. Nanoseconds of today are not. */
export function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= FARTHEST_TIME;
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
