import { ValidationError } from '../../core/errors.ts';
import type { Dataset } from '../../model/dataset.ts';
import { type ClockReader, listClockReaders } from '../../retrieval/clock-readers.ts';
import type { ArmOptions } from '../config/config.ts';
import { withTuned } from '../config/tuned-arm.ts';

/** The options that an arm may get by its own tuning, one value at a time. */
function listTunedOptions(arm: ArmOptions): ArmOptions[] {
  const points = Object.entries(arm.tune).flatMap(([path, values]) => values.map((value) => ({ [path]: value })));
  return points.length === 0 ? [arm] : points.map((point) => withTuned(arm, point));
}

function listArmReaders(arm: ArmOptions): ClockReader[] {
  const byPart = listTunedOptions(arm)
    .flatMap(listClockReaders)
    .map((reader) => [reader.part, reader] as const);
  return [...new Map(byPart).values()];
}

/**
 * Refuses what reads hours or dates on data whose timestamps are only an order.
 *
 * @param readers for each arm or model, by its name, the parts that read them.
 * @throws ValidationError that names each arm, its parts and what to do.
 */
export function assertTimesFor(
  { name, declaration }: Dataset,
  kind: 'arm' | 'model',
  readers: ReadonlyMap<string, readonly ClockReader[]>,
): void {
  if (declaration.times !== 'order') return;
  const refused = [...readers].filter(([, parts]) => parts.length > 0);
  if (refused.length === 0) return;
  const parts = refused.map(([named, list]) => `${kind} ${named} reads ${list.map(({ part }) => part).join(', ')}`);
  const remedies = [...new Set(refused.flatMap(([, list]) => list.map(({ remedy }) => remedy)))];
  throw new ValidationError(
    `dataset ${name} has an order of turns but no times, and ${parts.join('; ')}; ${remedies.join('; ')}; or leave the ${kind} out`,
    { dataset: name, [`${kind}s`]: refused.map(([named]) => named) },
  );
}

/** @throws ValidationError for an arm that needs times if the data has only an order of turns. */
export function assertArmTimes(dataset: Dataset, arms: readonly ArmOptions[]): void {
  assertTimesFor(dataset, 'arm', new Map(arms.map((arm) => [arm.name, listArmReaders(arm)])));
}
