import type { DriftResult } from './experiment.ts';
import type { DailySample } from './replay.ts';
import { DAY_MILLISECONDS } from './retention.ts';

/** A stretch of the time axis that is cut out, since no memory changed in it. */
export interface QuietSpan {
  /** ISO times. */
  readonly start: string;
  readonly end: string;
  readonly days: number;
}

/** Shorter stretches stay. */
const LEAST_DAYS = 7;

function hasSampleChanged(before: DailySample, after: DailySample): boolean {
  return before.count !== after.count || before.information !== after.information || before.energy !== after.energy;
}

/** The stretches of at least a week in which no policy's memory changed. */
export function findQuietSpans({ policies }: Pick<DriftResult, 'policies'>): QuietSpan[] {
  const times = policies[0]?.samples.map(({ time }) => time) ?? [];
  const spans: QuietSpan[] = [];
  let start = 0;
  for (let day = 1; day <= times.length; day++) {
    const moved =
      day === times.length ||
      policies.some(({ samples }) => hasSampleChanged(samples[day - 1] as DailySample, samples[day] as DailySample));
    if (!moved) continue;
    const [first, last] = [times[start] as number, times[day - 1] as number];
    const days = Math.round((last - first) / DAY_MILLISECONDS);
    if (days >= LEAST_DAYS)
      spans.push({ start: new Date(first).toISOString(), end: new Date(last).toISOString(), days });
    start = day;
  }
  return spans;
}
