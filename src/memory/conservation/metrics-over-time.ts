import { compareBytes } from '../../model/turns/tie-rule.ts';
import { computeMagnitudeDrift } from '../../ops/conservation/conservation-laws.ts';
import { type ConservationMetrics, GrowingSums } from '../../ops/conservation/conservation-metrics.ts';
import { computeSalience, countHalfLives } from './salience.ts';
import { findOrigin, type StoredRecords } from './salience-stream.ts';

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
  const sums = new GrowingSums(dimension);
  const found: MetricsMoment[] = [];
  const step = Math.ceil(ordered.length / moments);
  let origin: number | null = null;
  for (let start = 0; start < ordered.length; start += step) {
    const added = ordered.slice(start, start + step).flatMap(({ id }) => store.get(id) ?? []);
    const newest: number | null = findOrigin(added) ?? origin;
    if (origin !== null && newest !== origin) sums.fade(2 ** countHalfLives(origin, halfLifeHours, newest as number));
    origin = newest;
    for (const record of added)
      sums.add({ embedding: record.embedding, salience: computeSalience(record, halfLifeHours, origin ?? 0) });
    const time = added.at(-1)?.createdAt as number;
    const moment = { time, metrics: origin === null ? null : sums.deriveMetrics(), drift: null };
    found.push({ ...moment, drift: computeDrift(found.at(-1), moment) });
  }
  return found;
}
