import { NotFiniteError, ValidationError } from '../core/errors.ts';
import type { ArmResult, Comparison, ExperimentResult, Interval } from '../experiment/result.ts';
import { decimal, probability, signed } from './format.ts';

/** The marks of a verdict; an undecided arm has none. */
export const MARKS: Readonly<Record<Comparison['verdict'], string>> = { better: '▲', worse: '▼', undecided: '' };

/** One metric of one arm: the numbers, and how every rendering writes them. */
export interface LadderCell {
  readonly metric: string;
  readonly mean: number;
  readonly verdict: Comparison['verdict'];
  /** ▲, ▼ or nothing. */
  readonly mark: string;
  /** For example `.496`. */
  readonly value: string;
  /** For example `[.47, .52]`. */
  readonly interval: string;
  /** Against the baseline; null in the baseline's own row. */
  readonly comparison: { readonly difference: string; readonly interval: string; readonly p: string } | null;
}

export interface LadderRow {
  readonly arm: string;
  readonly description: string;
  readonly isBaseline: boolean;
  /** In the order of the table's metrics. */
  readonly cells: readonly LadderCell[];
  /** Unjudged turns among the top k, summed over the queries. */
  readonly holes: number;
}

/** The ladder of arms; what the terminal, Markdown and HTML show is laid out from this and nothing else. */
export interface LadderTable {
  readonly metrics: readonly string[];
  readonly baseline: string;
  readonly rows: readonly LadderRow[];
  /** Sentences that say what marks, brackets and p mean. */
  readonly legend: readonly string[];
}

/**
 * @throws ValidationError when the baseline is no arm or an arm lacks a metric or its comparison.
 * @throws NotFiniteError for a figure that is not finite.
 */
export function ladderTable(result: ExperimentResult): LadderTable {
  const { metrics, baseline, arms } = result;
  if (!arms.some((arm) => arm.name === baseline))
    throw new ValidationError(`baseline is not among the arms: ${baseline}`, { baseline });
  const rows = arms.map((arm) => ({
    arm: arm.name,
    description: arm.description,
    isBaseline: arm.name === baseline,
    cells: metrics.map((metric) => ladderCell(arm, metric, arm.name === baseline)),
    holes: arm.holes,
  }));
  return { metrics, baseline, rows, legend: legendOf(result) };
}

function ladderCell(arm: ArmResult, metric: string, isBaseline: boolean): LadderCell {
  const interval = arm.metrics[metric];
  if (interval === undefined) throw new ValidationError(`arm ${arm.name} has no metric: ${metric}`, { metric });
  assertFinite(interval, `arm ${arm.name}, ${metric}`);
  const comparison = isBaseline ? null : comparisonOf(arm, metric);
  const verdict = comparison?.verdict ?? 'undecided';
  return {
    metric,
    mean: interval.mean,
    verdict,
    mark: MARKS[verdict],
    value: decimal(interval.mean, 3),
    interval: `[${decimal(interval.low, 2)}, ${decimal(interval.high, 2)}]`,
    comparison: comparison && {
      difference: signed(comparison.difference.mean, 3),
      interval: `[${signed(comparison.difference.low, 2)}, ${signed(comparison.difference.high, 2)}]`,
      p: probability(comparison.correctedP),
    },
  };
}

function comparisonOf(arm: ArmResult, metric: string): Comparison {
  const comparison = arm.comparisons?.[metric];
  if (comparison === undefined)
    throw new ValidationError(`arm ${arm.name} has no comparison with the baseline in: ${metric}`, { metric });
  assertFinite(comparison.difference, `difference of arm ${arm.name}, ${metric}`);
  if (!Number.isFinite(comparison.correctedP))
    throw new NotFiniteError('corrected p', `arm ${arm.name}, ${metric}`, comparison.correctedP);
  return comparison;
}

function assertFinite(interval: Interval, where: string): void {
  for (const value of [interval.mean, interval.low, interval.high])
    if (!Number.isFinite(value)) throw new NotFiniteError('interval', where, value);
}

function legendOf({ queries, baseline, statistics: { level, samples } }: ExperimentResult): string[] {
  const clusters = new Set(queries.map((query) => query.cluster)).size;
  return [
    `${MARKS.better} better, ${MARKS.worse} worse than ${baseline}, said only where the corrected p is below ${decimal(1 - level, 2)}; no mark: undecided.`,
    `p: paired sign-flip permutation test (${samples.toLocaleString('en')} samples), clustered by conversation, corrected by Holm over the arms.`,
    `Brackets: ${Math.round(level * 100)} % bootstrap intervals (BCa), clustered by conversation. ${queries.length} queries in ${clusters} conversations.`,
  ];
}
