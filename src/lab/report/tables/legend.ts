import { freezeDeeply } from '../../../core/values/once.ts';
import { chooseIntervalMethod, LEAST_BOOTSTRAPPED, LEAST_CLUSTERS } from '../../../eval/intervals/mean-intervals.ts';
import { readDirection } from '../../../eval/metrics/metric.ts';
import { LEAST_TRUSTED } from '../../../eval/significance/multiple-comparisons.ts';
import { MOST_SAMPLES } from '../../../eval/significance/sign-flip-permutation.ts';
import type { Comparison, ExperimentResult } from '../../measure/result.ts';
import { describeUndecidable } from './decision.ts';
import { formatDecimal } from './format.ts';

/** The marks of a verdict; an undecided arm has none. */
export const MARKS: Readonly<Record<Comparison['verdict'], string>> = freezeDeeply({
  better: '▲',
  worse: '▼',
  undecided: '',
});

type Statistics = ExperimentResult['statistics'];

/** Something that was compared, by metric. */
interface Compared {
  readonly name: string;
  readonly comparisons: Readonly<Record<string, Pick<Comparison, 'unresolved'>>> | null;
}

/** The subject of the sentences below a table. */
interface LegendFacts {
  /** The name of the rows, in the plural. */
  readonly rows: string;
  readonly baseline: string;
  /** True if there is a baseline to compare with. */
  readonly compared: boolean;
  readonly isTested: boolean;
  /** The number of null controls, whose p are corrected together; 0 where it is left out. */
  readonly controls?: number;
  /** The metrics of the table; those of which less is better are named. */
  readonly metrics?: readonly string[];
  /** Rows that the most samples do not decide, see {@link listUnresolved}. */
  readonly unresolved: readonly string[];
  readonly statistics: Statistics;
  readonly queries: number;
  readonly conversations: number;
  /** The number of seeds that the rows were run with; 1 where it is left out. */
  readonly seeds?: number;
  /** The rows whose figures no seed changes. */
  readonly alike?: readonly string[];
  /** The means of the rows, whose intervals are in brackets. */
  readonly means?: readonly { readonly mean: number; readonly low: number | null; readonly high: number | null }[];
}

const TESTS: Readonly<Record<Statistics['test'], (statistics: Statistics) => string>> = {
  permutation: ({ samples }) => `paired sign-flip permutation test (${count(samples)} samples)`,
  t: () => 'paired t test',
  wilcoxon: () => 'paired Wilcoxon signed-rank test',
};

const CORRECTIONS: Readonly<Record<Statistics['correction'], (rows: string) => string>> = {
  holm: (rows) => `corrected by Holm over the ${rows}`,
  'benjamini-hochberg': (rows) => `corrected by Benjamini and Hochberg over the ${rows}`,
  none: (rows) => `not corrected for the number of ${rows}`,
};

function count(value: number): string {
  return value.toLocaleString('en');
}

/** The second test of few conversations, unless the first one is of the same kind. */
function describeConfirmation(test: Statistics['test'], conversations: number): string[] {
  if (test === 'permutation' || conversations >= LEAST_TRUSTED) return [];
  return [`Below ${LEAST_TRUSTED} conversations p is that of the exact sign-flip test where that is larger.`];
}

/** The test behind p and its correction, and until when it draws samples. @param rows the name of the compared items, in the plural */
export function testText(statistics: Statistics, rows: string, conversations: number, apart = ''): string[] {
  const { test, correction, samples, level } = statistics;
  const tested = `p: ${TESTS[test](statistics)}, clustered by conversation, ${CORRECTIONS[correction](rows)}${apart}.`;
  if (test !== 'permutation' || samples >= MOST_SAMPLES) return [tested, ...describeConfirmation(test, conversations)];
  const bound = formatDecimal(1 - level, 2);
  return [
    tested,
    `Where ${bound} is within the Monte Carlo error of p, more samples are drawn, up to ${count(MOST_SAMPLES)}.`,
  ];
}

/** The test of every level of a stratum. */
export function describeStratumTest(): string {
  return `A level's p is that of a paired t test; below ${LEAST_TRUSTED} conversations that of the exact sign-flip test, if larger.`;
}

/** The conversations that the queries of a run are of. */
export function countConversations(queries: ExperimentResult['queries']): number {
  return new Set(queries.map(({ cluster }) => cluster)).size;
}

function formatConversations(conversations: number): string {
  return conversations === 1 ? '1 conversation' : `${count(conversations)} conversations`;
}

/** The meaning of ±, and the rows without it. @param alike the rows whose figures no seed changes */
export function describeSeedMeans(seeds: number, alike: readonly string[] = []): string[] {
  return [
    `Each figure is the mean of ${seeds} seeds; ± is the standard deviation of the seeds' means.`,
    ...(alike.length === 0 ? [] : [`Without ±, since every seed gives the same figures: ${alike.join(', ')}.`]),
  ];
}

/** The sources of variance of arms that were run with several seeds. */
const SEED_SOURCES = 'the variance between conversations and the variance between seeds';

/** What a p is of that is computed from the queries' means over the seeds; empty for one seed. */
export function describeMeansOverSeeds(seeds: number): string[] {
  if (seeds === 1) return [];
  return [
    `Figures of repeated arms are means over ${seeds} seeds. p is of these means, without the variance between seeds: other seeds may give another verdict.`,
  ];
}

/** The method of the intervals for a number of conversations: `95 % bootstrap intervals (BCa), clustered by conversation`. */
export function describeIntervals(conversations: number, level: number, seeds = 1): string {
  const percent = `${Math.round(level * 100)} %`;
  if (seeds > 1 && chooseIntervalMethod(conversations) !== 'none')
    return `${percent} t intervals with ${SEED_SOURCES} (Satterthwaite's degrees of freedom)`;
  switch (chooseIntervalMethod(conversations)) {
    case 'bca':
      return `${percent} bootstrap intervals (BCa), clustered by conversation`;
    case 't':
      return `${percent} cluster-robust t intervals (fewer than ${LEAST_BOOTSTRAPPED} conversations)`;
    case 'none':
      return `no intervals (fewer than ${LEAST_CLUSTERS} conversations)`;
  }
}

/** Names with the metrics in which the most samples do not decide: `cosine (mrr@10, ndcg@10)`. */
export function listUnresolved(rows: readonly Compared[], metrics: readonly string[]): string[] {
  return rows.flatMap(({ name, comparisons }) => {
    const open = metrics.filter((metric) => comparisons?.[metric]?.unresolved);
    return open.length === 0 ? [] : [`${name} (${open.join(', ')})`];
  });
}

/** The rows without a mark because p is too close to the bound for the maximum of samples; empty without such rows. */
export function describeUnresolved(
  names: readonly string[],
  { samples, level }: Pick<Statistics, 'samples' | 'level'>,
) {
  if (names.length === 0) return [];
  const most = count(Math.max(samples, MOST_SAMPLES));
  return [
    `Undecided after ${most} samples, with ${formatDecimal(1 - level, 2)} within the Monte Carlo error of p: ${names.join(', ')}.`,
  ];
}

/** A note where a t interval shows a value below 0 or above 1, for a mean between them; empty without such an interval. */
function describeBounds({ means = [], conversations, seeds }: LegendFacts): string[] {
  const passes = means.some(
    ({ mean, low, high }) =>
      low !== null &&
      high !== null &&
      Math.abs(mean - 0.5) <= 0.5 &&
      (Math.round(low * 100) < 0 || Math.round(high * 100) > 100),
  );
  return passes && chooseIntervalMethod(conversations, seeds) === 't'
    ? ['A t interval is symmetric and is not cut at 0 or 1, the bounds of most metrics.']
    : [];
}

/** A note on the intervals of few conversations; empty for many. */
export function describeCoverage(conversations: number, level: number): string[] {
  if (chooseIntervalMethod(conversations) !== 't') return [];
  const of = `${Math.round(level * 100)} %`;
  return [`Intervals of few conversations cover less than ${of} where their sizes are skewed: .88 to .91 for .95.`];
}

/** Sentences that say what marks, p and brackets mean, and how much was measured. */
export function buildStatisticsLegend(facts: LegendFacts): string[] {
  const { rows, baseline, compared, isTested, controls = 0, unresolved, statistics, queries, conversations } = facts;
  const { level } = statistics;
  const apart = controls > 0 ? ', null controls among themselves' : '';
  const measured = `${queries} queries in ${formatConversations(conversations)}`;
  const intervals = describeIntervals(conversations, level);
  if (facts.seeds !== undefined && facts.seeds > 1) return buildSeedsLegend(facts, facts.seeds);
  return [
    compared ? describeMarks(baseline, level) : describeFailedBaseline(baseline),
    ...describeDirections(facts),
    ...(isTested ? testText(statistics, rows, conversations, apart) : []),
    ...(compared ? describeUndecidable(statistics, conversations, controls, 'comparisons of null controls') : []),
    ...describeUnresolved(unresolved, statistics),
    `Brackets: ${intervals}. ${measured}.`,
    ...describeCoverage(conversations, level),
    ...describeBounds(facts),
  ];
}

/** The same where rows were run with several seeds. */
function buildSeedsLegend(facts: LegendFacts, seeds: number): string[] {
  const { rows, baseline, compared, isTested, controls = 0, statistics, queries, conversations } = facts;
  const apart = controls > 0 ? ', null controls among themselves' : '';
  const corrected = CORRECTIONS[statistics.correction](rows);
  const brackets = describeIntervals(conversations, statistics.level, seeds);
  return [
    ...(compared ? [describeMarks(baseline, statistics.level)] : [describeFailedBaseline(baseline)]),
    ...describeDirections(facts),
    ...describeSeedMeans(seeds, facts.alike),
    ...(isTested
      ? [`p: paired t test with ${SEED_SOURCES}, ${corrected}${apart}.`, ...describeConfirmation('t', conversations)]
      : []),
    `Brackets: ${brackets}. ${queries} queries in ${formatConversations(conversations)}.`,
    ...describeCoverage(conversations, statistics.level),
    ...describeBounds(facts),
  ];
}

function describeMarks(baseline: string, level: number): string {
  return `${MARKS.better} better, ${MARKS.worse} worse than ${baseline}, said only where the corrected p is below ${formatDecimal(1 - level, 2)}; no mark: undecided.`;
}

/** A note that names the metrics of which less is better; empty without any. */
function describeDirections({ metrics = [] }: LegendFacts): string[] {
  const lower = metrics.filter((metric) => readDirection(metric) === 'lower');
  return lower.length === 0 ? [] : [`Less is better: ${lower.join(', ')}.`];
}

function describeFailedBaseline(baseline: string): string {
  return `No arm is compared with the baseline, ${baseline}, which failed.`;
}
