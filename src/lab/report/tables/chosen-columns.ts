import { RagPlusPlusError, ValidationError } from '../../../core/errors/errors.ts';
import { suggestKnown } from '../../../core/validation/validation.ts';
import { parseMean } from '../../../eval/metrics/metric.ts';
import { readSeedDeviation } from '../../measure/warning.ts';
import type { RunFigures } from '../../stored/run-figures.ts';
import { formatDecimal, formatInterval, formatProbability, formatSigned } from './format.ts';

type Arm = RunFigures['arms'][number];
type Comparison = NonNullable<Arm['comparisons']>[string];
type Value = string | number | null;

/** How a statistic of a metric is written. */
interface Statistic {
  readonly heading: string;
  /** @returns null where the statistic does not exist, as the effect size of differences that do not vary. */
  readonly write: (comparison: Comparison, digits: number, bound: number) => string | null;
  /** With all digits, by the end of the CSV heading. */
  readonly values: (comparison: Comparison) => readonly (readonly [ending: string, value: Value])[];
}

/** Statistics of a comparison with the baseline. */
const STATISTICS = {
  difference: {
    heading: 'difference',
    write: ({ difference }, digits) => formatSigned(difference.mean, digits),
    values: ({ difference }) => [['difference', difference.mean]],
  },
  'difference-interval': {
    heading: 'difference interval',
    write: ({ difference }, digits) => formatInterval(difference, formatSigned, digits) || null,
    values: ({ difference }) => [
      ['difference.low', difference.low],
      ['difference.high', difference.high],
    ],
  },
  p: {
    heading: 'p',
    write: ({ correctedP }, _, bound) => formatProbability(correctedP, bound),
    values: ({ correctedP }) => [['p', correctedP]],
  },
  'effect-size': {
    heading: 'effect size',
    write: ({ effectSize }, digits) => (effectSize === null ? null : formatSigned(effectSize, digits)),
    values: ({ effectSize }) => [['effect-size', effectSize]],
  },
  'minimum-detectable': {
    heading: 'minimum detectable',
    write: ({ minimumDetectable }, digits) =>
      minimumDetectable === null ? null : formatDecimal(minimumDetectable, digits),
    values: ({ minimumDetectable }) => [['minimum-detectable', minimumDetectable]],
  },
  'wins/ties/losses': {
    heading: 'wins/ties/losses',
    write: ({ wins, ties, losses }) => `${wins}/${ties}/${losses}`,
    values: ({ wins, ties, losses }) => [
      ['wins', wins],
      ['ties', ties],
      ['losses', losses],
    ],
  },
} as const satisfies Readonly<Record<string, Statistic>>;

type StatisticName = keyof typeof STATISTICS;

const OF_A_METRIC: readonly string[] = ['interval', ...Object.keys(STATISTICS)];

/** A column of a chosen table: the mean of a metric, one of its statistics, or the unjudged turns. */
export type ChosenColumn =
  | { readonly kind: 'mean' | 'interval' | StatisticName; readonly metric: string }
  | { readonly kind: 'unjudged'; readonly metric: null };

/** The names that a column may have besides those of metrics. */
export const COLUMN_NAMES: readonly string[] = Object.freeze([...OF_A_METRIC, 'unjudged']);

/** The metric of a run that a name means; the names of other programs are accepted. */
function findMetric(word: string, metrics: readonly string[]): string | undefined {
  if (metrics.includes(word)) return word;
  try {
    const { id } = parseMean(word);
    return metrics.includes(id) ? id : undefined;
  } catch (error) {
    if (error instanceof RagPlusPlusError) return undefined;
    throw error;
  }
}

/** `mrr@10.p` as a column; undefined for a word without a known statistic at its end. */
function parseDottedColumn(word: string, metrics: readonly string[]): ChosenColumn | undefined {
  const kind = OF_A_METRIC.find((name) => word.endsWith(`.${name}`));
  const metric = kind === undefined ? undefined : findMetric(word.slice(0, -kind.length - 1), metrics);
  return metric === undefined ? undefined : { kind: kind as StatisticName | 'interval', metric };
}

/**
 * Reads the names of columns: a metric, a statistic of the metric before it (`p`), a statistic of a named metric (`mrr@10.p`), or `unjudged`.
 *
 * @throws ValidationError for an unknown name, with the nearest known one, and for a statistic without a metric before it.
 */
export function parseColumns(words: readonly string[], metrics: readonly string[]): ChosenColumn[] {
  let before: string | undefined;
  return words.map((word) => {
    if (word === 'unjudged') return { kind: word, metric: null };
    if (OF_A_METRIC.includes(word)) {
      if (before !== undefined) return { kind: word as StatisticName | 'interval', metric: before };
      const example = `${metrics[0]}.${word}`;
      throw new ValidationError(`column has no metric before it: ${word}; name a metric first, or write ${example}`, {
        column: word,
      });
    }
    const metric = findMetric(word, metrics);
    const column = metric === undefined ? parseDottedColumn(word, metrics) : { kind: 'mean' as const, metric };
    if (column === undefined || column.metric === null)
      throw new ValidationError(`unknown column: ${word}; use ${suggestKnown(word, [...metrics, ...COLUMN_NAMES])}`, {
        column: word,
      });
    before = column.metric;
    return column;
  });
}

/**
 * Reads a list of arms with commas between them. A name may have commas itself: the longest known name is taken.
 *
 * @throws ValidationError for an unknown name, with the nearest known one.
 */
export function parseArmList(list: string, known: readonly string[]): string[] {
  const words = list.split(',');
  const names: string[] = [];
  for (let at = 0; at < words.length; ) {
    const ends = Array.from({ length: words.length - at }, (_, i) => words.length - i);
    const end = ends.find((last) => known.includes(words.slice(at, last).join(',').trim()));
    if (end === undefined) {
      const word = (words[at] as string).trim();
      throw new ValidationError(`unknown arm: ${word}; use ${suggestKnown(word, known)}`, { arm: word });
    }
    names.push(words.slice(at, end).join(',').trim());
    at = end;
  }
  return names;
}

export function nameStatistic({ kind }: ChosenColumn): string {
  return kind in STATISTICS ? STATISTICS[kind as StatisticName].heading : kind;
}

/** A cell as people read it; null where it has no value. @param bound of the corrected p, which decides */
export function writeCell(arm: Arm, column: ChosenColumn, digits: number, bound: number): string | null {
  if (column.metric === null) return String(arm.holes);
  const estimate = getEstimate(arm, column.metric);
  if (column.kind === 'interval') return formatInterval(estimate, formatDecimal, digits) || null;
  if (column.kind === 'mean') {
    const deviation = readSeedDeviation(arm, column.metric);
    const value = formatDecimal(estimate.mean, digits);
    return deviation === undefined ? value : `${value} ± ${formatDecimal(deviation, digits)}`;
  }
  const comparison = arm.comparisons?.[column.metric];
  return comparison === undefined ? null : STATISTICS[column.kind].write(comparison, digits, bound);
}

/** Headings and numbers of a column for CSV; an arm without a comparison has nulls. */
export function listCellValues(arm: Arm, column: ChosenColumn): (readonly [heading: string, value: Value])[] {
  const { kind, metric } = column;
  if (metric === null) return [['unjudged', arm.holes]];
  const estimate = getEstimate(arm, metric);
  if (kind === 'mean') return [[metric, estimate.mean]];
  if (kind === 'interval')
    return [
      [`${metric}.low`, estimate.low],
      [`${metric}.high`, estimate.high],
    ];
  const comparison = arm.comparisons?.[metric];
  const values = STATISTICS[kind].values(comparison ?? ABSENT);
  return values.map(([ending, value]) => [`${metric}.${ending}`, comparison === undefined ? null : value]);
}

/** Gives an arm without a comparison the headings of the others. */
const ABSENT: Comparison = Object.freeze({
  difference: Object.freeze({ mean: 0, low: null, high: null }),
  p: 1,
  correctedP: 1,
  samples: null,
  unresolved: false,
  verdict: 'undecided',
  effectSize: null,
  minimumDetectable: null,
  wins: 0,
  ties: 0,
  losses: 0,
  clusterWins: 0,
  clusterTies: 0,
  clusterLosses: 0,
  signFlipP: null,
});

function getEstimate(arm: Arm, metric: string) {
  const estimate = arm.metrics[metric];
  if (estimate === undefined)
    throw new ValidationError(`arm ${arm.name} has no metric: ${metric}; run the experiment again`, { metric });
  return estimate;
}
