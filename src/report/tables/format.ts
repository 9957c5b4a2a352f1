/** How every table, figure and page writes numbers and stages. The scripts of the pages import this file, so it must run in a browser. */

/** Fixed digits without the leading zero, with a true minus: `.496`, `−.030`, `1.000`. */
export function formatDecimal(value: number, digits: number): string {
  const text = Math.abs(value).toFixed(digits);
  const sign = value < 0 && Number(text) > 0 ? '−' : '';
  return sign + text.replace(/^0\./, '.');
}

/** As `decimal`, with a plus for positive numbers. */
export function formatSigned(value: number, digits: number): string {
  const text = formatDecimal(value, digits);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

/** Four significant digits, for scores of any size: `.01639`, `12.34`, `1.2e−7`. */
export function formatSignificant(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e6) return value.toExponential(1).replaceAll('-', '−').replace('+', '');
  const digits = Math.max(0, 3 - Math.floor(Math.log10(size)));
  return formatDecimal(value, Math.min(digits, 5));
}

/**
 * Three digits; smaller than the last of them is `<.001`.
 *
 * @param bound the level: a p close to it is written with enough digits to distinguish it from the bound, `.0496` below .05.
 */
export function formatProbability(p: number, bound = 0): string {
  if (p < 0.001) return '<.001';
  let digits = 3;
  if (p < bound - 1e-12) while (formatDecimal(p, digits) === formatDecimal(bound, digits)) digits++;
  return formatDecimal(p, digits);
}

/** The ends of an interval, `[.47, .52]`; empty without ends. */
export function formatInterval(
  { low, high }: { readonly low: number | null; readonly high: number | null },
  write: (end: number, digits: number) => string,
  digits: number,
): string {
  return low === null || high === null ? '' : `[${write(low, digits)}, ${write(high, digits)}]`;
}

/** A mean to three digits and its interval, where it has one: `.496 [.47, .52]`. */
export function estimate(
  { mean, ...ends }: { readonly mean: number; readonly low: number | null; readonly high: number | null },
  write: (value: number, digits: number) => string,
  digits: number,
): string {
  return [write(mean, 3), formatInterval(ends, write, digits)].filter(Boolean).join(' ');
}

/** The name of a relevant turn's fate: many arms fuse nothing, but every arm has a relevance. */
export function formatFate(fate: string): string {
  return fate === 'fusion' ? 'relevance' : fate;
}

/** Milliseconds since 1970 as `2002-08-22 12:36` in UTC. */
export function formatMinute(timestamp: number): string {
  return new Date(timestamp).toISOString().slice(0, 16).replace('T', ' ');
}

/** A time span in its largest fitting unit: `40 s`, `3.2 h`, `12 d`. */
export function formatDuration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 90) return `${seconds.toFixed(0)} s`;
  if (seconds < 5400) return `${(seconds / 60).toFixed(0)} min`;
  if (seconds < 172_800) return `${(seconds / 3600).toFixed(1)} h`;
  return `${(seconds / 86_400).toFixed(0)} d`;
}
