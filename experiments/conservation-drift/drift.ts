import { ValidationError } from '../../src/core/errors/errors.ts';
import { type Corpus, findLowerBound } from '../../src/model/turns/corpus.ts';
import type { DailySample, Replay } from './replay.ts';
import { DAY_MILLISECONDS } from './retention.ts';
import type { DriftSettings } from './settings.ts';

const FIGURES = ['magnitude', 'energy', 'coherence', 'information', 'informationBits'] as const;
export type Figure = (typeof FIGURES)[number];

/** The days that the table is about, both ends included. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Drift {
  readonly figure: Figure;
  readonly initial: number;
  readonly final: number;
  /** (final - initial) / initial */
  readonly drift: number;
  /** The relative change with the largest size between two days of the span that are the retention time apart; null if the span is shorter. */
  readonly largest: number | null;
  /** Share of those pairs of days within 1 %; null without pairs. */
  readonly withinOnePercent: number | null;
}

/**
 * The longest run of days with at least `leastMessages` in the retention time before.
 *
 * @throws ValidationError if there is no such day.
 */
export function findBusySpan(corpus: Corpus, days: readonly number[], settings: DriftSettings): Span {
  const { leastMessages, retentionDays } = settings;
  let longest: Span | null = null;
  let start: number | null = null;
  for (const day of days) {
    const recent =
      findLowerBound(corpus.timestamps, day) -
      findLowerBound(corpus.timestamps, day - retentionDays * DAY_MILLISECONDS);
    start = recent < leastMessages ? null : (start ?? day);
    if (start !== null && (longest === null || day - start > longest.end - longest.start))
      longest = { start, end: day };
  }
  if (longest === null)
    throw new ValidationError(
      `no day has ${leastMessages} messages in the ${retentionDays} days before it; lower leastMessages`,
    );
  return longest;
}

/** The change of each figure over the span. */
export function measureDrifts({ samples }: Replay, { start, end }: Span, retentionDays: number): Drift[] {
  const shown = samples.filter(({ time }) => time >= start && time <= end);
  const [first, last] = [shown[0], shown[shown.length - 1]] as [DailySample, DailySample];
  return FIGURES.map((figure) => {
    const changes = shown.flatMap((sample, i) => {
      const later = shown[i + retentionDays];
      return later === undefined ? [] : [computeRelativeChange(sample[figure], later[figure])];
    });
    const within = changes.filter((change) => Math.abs(change) <= 0.01).length;
    return {
      figure,
      initial: first[figure],
      final: last[figure],
      drift: computeRelativeChange(first[figure], last[figure]),
      largest: changes.length === 0 ? null : changes.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a)),
      withinOnePercent: changes.length === 0 ? null : within / changes.length,
    };
  });
}

function computeRelativeChange(before: number, after: number): number {
  return before === after ? 0 : (after - before) / before;
}
