import { compareBytes } from '../../model/turns/tie-rule.ts';
import { computeMagnitudeDrift } from '../../ops/conservation/conservation-laws.ts';
import type { ConservationMetrics } from '../../ops/conservation/conservation-metrics.ts';
import { SalienceStream, type StoredRecords } from './salience-stream.ts';

/** The records of a memory up to a moment. */
export interface MetricsMoment {
  /** Milliseconds since 1970: the time of the latest of these records. */
  readonly time: number;
  /** null: no record has a salience above 0. */
  readonly metrics: ConservationMetrics | null;
  /** `|M' - M| / M` since the moment before; null without one. */
  readonly drift: number | null;
}

/** The relative change of magnitude from one moment to another; null where one has no metrics. */
export function computeDrift(before: MetricsMoment | undefined, { metrics }: MetricsMoment): number | null {
  const earlier = before?.metrics ?? null;
  return earlier === null || metrics === null ? null : computeMagnitudeDrift(earlier, metrics);
}

/**
 * The conservation metrics of the records that are there, as they grew in the order of `createdAt`. Records that were
 * removed are unknown. O(n D).
 *
 * @param dimension D
 * @param halfLifeHours null: salience does not fade.
 * @param moments the most moments, between which the number of new records is the same.
 */
export function measureOverTime(
  store: StoredRecords,
  dimension: number,
  halfLifeHours: number | null,
  moments: number,
): MetricsMoment[] {
  const ordered = Array.from(store.records(), ({ id, createdAt }) => ({ id, createdAt })).sort(
    (a, b) => a.createdAt - b.createdAt || compareBytes(a.id, b.id),
  );
  const seen = new Set<string>();
  const get = (id: string) => (seen.has(id) ? store.get(id) : null);
  const records = () => [...seen].flatMap((id) => get(id) ?? []);
  const stream = new SalienceStream({ records, get }, dimension, halfLifeHours);
  const found: MetricsMoment[] = [];
  const step = Math.ceil(ordered.length / moments);
  for (let start = 0; start < ordered.length; start += step) {
    const added = ordered.slice(start, start + step);
    for (const { id } of added) seen.add(id);
    stream.follow(added.map(({ id }) => id));
    const moment = { time: added.at(-1)?.createdAt as number, metrics: stream.metrics, drift: null };
    found.push({ ...moment, drift: computeDrift(found.at(-1), moment) });
  }
  return found;
}
