/** How every table, figure and page writes numbers and stages. The scripts of the pages import this file, so it must run in a browser. */
import { formatDecimal, formatMinute, formatSignificant } from '../../../core/text/format.ts';

/** The most rows that a figure of a fit shows; the table below the figure has all rows. */
export const MOST_FIGURE_ROWS = 40;

/** A sentence on the rows that a figure leaves out; empty if it has all. */
export function describeCut(count: number, what: string): string {
  if (count <= MOST_FIGURE_ROWS) return '';
  return ` The figure holds the ${MOST_FIGURE_ROWS} of ${count} ${what} that are greatest in magnitude.`;
}

export { formatDecimal, formatMinute, formatSignificant };

/** As `decimal`, with a plus for positive numbers. */
export function formatSigned(value: number, digits: number): string {
  const text = formatDecimal(value, digits);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
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

/** Names of components that are the attention of an arm to the candidates. */
const ATTENTION_MECHANISMS: readonly string[] = ['rcp', 'ircp', 'tpo', 'unified'];

/** @returns the place of an arm's attention among its components, the first of several; -1 for none. */
export function findAttentionPart(components: readonly string[]): number {
  return components.findIndex((name) => ATTENTION_MECHANISMS.includes(name));
}

const FATE_NAMES: Readonly<Record<string, string>> = { fusion: 'relevance', slice: 'inadmissible' };

/** The name of a relevant turn's fate: many arms fuse nothing, but every arm has a relevance. */
export function formatFate(fate: string): string {
  return FATE_NAMES[fate] ?? fate;
}

/** A time span in its largest fitting unit: `40 s`, `3.2 h`, `12 d`. */
export function formatDuration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 90) return `${seconds.toFixed(0)} s`;
  if (seconds < 5400) return `${(seconds / 60).toFixed(0)} min`;
  if (seconds < 172_800) return `${(seconds / 3600).toFixed(1)} h`;
  return `${(seconds / 86_400).toFixed(0)} d`;
}
