import { type JournalEnd, readBoot } from './journal-end.ts';
import type { JournalPosition } from './position.ts';

const REMEDY = 'restore the folder from a copy';

function describeMissing(name: string, sequence: number, last: number): string {
  const count = last - sequence;
  const [range, verb] = count === 1 ? [`change ${last}`, 'is'] : [`changes ${sequence + 1} to ${last}`, 'are'];
  return `${name} has lost ${range}: ${count} acknowledged at its end ${verb} missing; ${REMEDY}, or make what is missing again`;
}

/**
 * Describes the loss of acknowledged entries in a sentence; null without one.
 *
 * @param name of the journal.
 * @param last the last entry that the journal has.
 * @param acknowledged an entry that was acknowledged.
 * @param isHeld whether the journal has that entry; null if it cannot tell.
 */
export function describeLoss(
  name: string,
  last: JournalPosition,
  acknowledged: JournalPosition,
  isHeld: boolean | null,
): string | null {
  if (acknowledged.sequence > last.sequence) return describeMissing(name, last.sequence, acknowledged.sequence);
  if (isHeld !== false) return null;
  return `${name} has lost acknowledged changes: its change ${acknowledged.sequence} is another one than it was; ${REMEDY}`;
}

/**
 * Describes in a sentence why acknowledged entries after the last one may be missing; null if none can be.
 *
 * @param end null: missing or damaged.
 */
export function describeDoubt(name: string, { sequence }: JournalPosition, end: JournalEnd | null): string | null {
  const what = `${name} may have lost changes after ${sequence}`;
  if (end === null)
    return sequence === 0 ? null : `${what}: its file 'end' is missing or damaged; ${REMEDY} if changes are missing`;
  if (end.isSynced || (end.boot !== '' && end.boot === readBoot())) return null;
  return `${what}: the system was started again before they were on the disk; open it with fsync always to prevent this, and ${REMEDY} if changes are missing`;
}
