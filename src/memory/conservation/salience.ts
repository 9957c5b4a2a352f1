import { readImportance, readUseCount } from '../../model/turns/memory-fields.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';

const HOUR_MILLISECONDS = 3_600_000;

/** The fields of a record that its salience depends on. */
export type SalientRecord = Pick<MemoryRecord, 'metadata' | 'createdAt'>;

/**
 * The half-lives from a moment to the time of a record: positive for a later record, 0 where nothing fades.
 *
 * @param halfLifeHours null: nothing fades.
 * @param origin milliseconds since 1970.
 */
export function countHalfLives(createdAt: number, halfLifeHours: number | null, origin: number): number {
  return halfLifeHours === null ? 0 : (createdAt - origin) / HOUR_MILLISECONDS / halfLifeHours;
}

/**
 * The salience of a record: `importance * (1 + ln(1 + uses)) * 2^h`, with its half-lives h after the origin. A record
 * that is older by one half-life has half the salience. Metrics depend on the shares of salience alone, which no origin
 * changes: the time of the newest record gives saliences that fade, a fixed time gives saliences that never change.
 *
 * @param halfLifeHours null: nothing fades.
 * @param origin milliseconds since 1970.
 * @returns a number from 0; Infinity for a record that is over 900 half-lives later than the origin.
 */
export function computeSalience(
  { metadata, createdAt }: SalientRecord,
  halfLifeHours: number | null,
  origin: number,
): number {
  const worth = readImportance({ attributes: metadata }) * (1 + Math.log(1 + readUseCount({ metadata })));
  return worth === 0 ? 0 : worth * 2 ** countHalfLives(createdAt, halfLifeHours, origin);
}
