import { ValidationError } from '../../core/errors/errors.ts';
import type { Dataset, DatasetDeclaration } from '../../model/dataset.ts';
import { listDataReadersOfArm } from '../../rank/retrieval/arm.ts';
import type { DataPart, DataReader } from '../../rank/retrieval/steps/data-readers.ts';
import { readArm } from '../../rank/retrieval/written-steps.ts';
import type { ArmOptions } from '../config/config.ts';
import { withTuned } from '../config/tuned-arm.ts';

/** The options that an arm may get by its own tuning, one value at a time. */
function listTunedOptions(arm: ArmOptions): ArmOptions[] {
  const points = Object.entries(arm.tune).flatMap(([path, values]) => values.map((value) => ({ [path]: value })));
  return points.length === 0 ? [arm] : points.map((point) => withTuned(arm, point));
}

function listArmReaders(arm: ArmOptions, lacking: ReadonlySet<DataPart>): DataReader[] {
  const byPart = listTunedOptions(arm)
    .flatMap((options) => listDataReadersOfArm(readArm(options), lacking))
    .map((reader) => [reader.part, reader] as const);
  return [...new Map(byPart).values()];
}

const LACKED_BY_TIMES: Readonly<Record<NonNullable<DatasetDeclaration['times']>, readonly DataPart[]>> = {
  real: [],
  order: ['clock'],
  none: ['clock', 'order'],
};

/** What a dataset declares not to have. */
export function listLacking({ times = 'real', threads = 'real' }: DatasetDeclaration): ReadonlySet<DataPart> {
  return new Set([...LACKED_BY_TIMES[times], ...(threads === 'none' ? (['threads'] as const) : [])]);
}

function describeLacking({ times, threads }: DatasetDeclaration): string {
  if (times === 'order')
    return threads === 'none' ? 'an order of turns but no times and no threads' : 'an order of turns but no times';
  return ['times', 'threads']
    .filter((part) => (part === 'times' ? times : threads) === 'none')
    .map((part) => `no ${part}`)
    .join(' and ');
}

/**
 * Refuses what reads hours, dates, an order of turns or threads on data without them.
 *
 * @param readers for each arm or model, by its name, the parts that read something which the dataset lacks ({@link listLacking}).
 * @throws ValidationError that names each arm, its parts and what to do.
 */
export function assertDataFor(
  { name, declaration }: Dataset,
  kind: 'arm' | 'model',
  readers: ReadonlyMap<string, readonly DataReader[]>,
): void {
  const refused = [...readers].filter(([, parts]) => parts.length > 0);
  if (refused.length === 0) return;
  const parts = refused.map(([named, list]) => `${kind} ${named} reads ${list.map(({ part }) => part).join(', ')}`);
  const remedies = [...new Set(refused.flatMap(([, list]) => list.map(({ remedy }) => remedy)))];
  throw new ValidationError(
    `dataset ${name} has ${describeLacking(declaration)}, and ${parts.join('; ')}; ${remedies.join('; ')}; or leave the ${kind} out`,
    { dataset: name, [`${kind}s`]: refused.map(([named]) => named) },
  );
}

/** @throws ValidationError for an arm that needs times or threads if the data has none, or has only an order of turns. */
export function assertArmData(dataset: Dataset, arms: readonly ArmOptions[]): void {
  const lacking = listLacking(dataset.declaration);
  assertDataFor(dataset, 'arm', new Map(arms.map((arm) => [arm.name, listArmReaders(arm, lacking)])));
}
