import type { z } from 'zod';
import { findNearestWord } from '../../../core/validation/validation.ts';
import { COORDINATES } from '../../../ops/trajectory/coordinate-names.ts';
import { HAND_TUNED, listMixSignals } from '../../learning/model-signals.ts';
import { listSignalNames } from '../../signals/bank/options.ts';
import type { TrajectoryOptions } from '../../signals/trajectory-options.ts';
import type { MixOptions } from './change.ts';
import type { ScoreOptions, SearchOptions } from './search.ts';
import type { Outline } from './step.ts';

/** A fault of an arm: where, within the arm, and what is expected there. */
export type AddFault = (path: readonly PropertyKey[], expected: string) => void;

/** Propagated embeddings are for an index that knows them. */
export function checkSearch(sources: SearchOptions, { view }: Outline, fault: AddFault): void {
  if (view.propagation !== null && !Object.values(sources).some(({ index }) => index === 'flat'))
    fault([], 'a source with index flat, which alone knows propagated embeddings');
}

/** Columns of signals have names beside those of sources. */
export function checkScore(signals: ScoreOptions, { columns }: Outline, fault: AddFault): void {
  for (const name of Object.keys(signals))
    if (columns.has(name)) fault([name], `a signal that no source is named as; give the source ${name} another name`);
}

/** A mix weighs signals that its bank has, and a fit starts from one of them. */
export function checkMix(options: MixOptions, _: Outline, fault: AddFault): void {
  const known = listSignalNames(options.signals);
  const assertKnown = (path: readonly PropertyKey[], signal: string) => {
    if (known.includes(signal)) return;
    const nearest = findNearestWord(signal, known);
    fault(path, `a signal of the bank${nearest === undefined ? '' : `, such as ${nearest}`}`);
  };
  if (!('fit' in options)) {
    for (const signal of Object.keys(options.weights)) assertKnown(['weights', signal], signal);
    return;
  }
  const { model, users } = options.fit;
  const { groups } = options.signals;
  if (users !== undefined && !(groups.includes('text') && groups.includes('memory')))
    fault(['signals', 'groups'], 'a list with text and memory, which fit.users needs');
  if (model.name === 'trajectory') return;
  for (const [i, signal] of (model.signals ?? []).entries()) assertKnown(['fit', 'model', 'signals', i], signal);
  const initial = model.initial ?? HAND_TUNED;
  if (listMixSignals(known, model).every((signal) => (initial[signal] ?? 0) === 0))
    fault(['fit', 'model', 'initial'], 'the weight of at least one signal of the model, where the fit starts');
}

function checkCoordinates({ dimensions, weights }: TrajectoryOptions, fault: AddFault): void {
  const known: readonly string[] = COORDINATES[dimensions];
  for (const name of Object.keys(weights))
    if (!known.includes(name)) fault(['weights', name], `a coordinate of ${dimensions} (${known.join(', ')})`);
}

/** Blends weigh coordinates that their dimensions have. */
export function checkBlend(blends: Readonly<Record<string, unknown>>, _: Outline, fault: AddFault): void {
  for (const [name, options] of Object.entries(blends)) {
    const at = name === 'trajectory' ? [name] : [name, 'coordinates'];
    const { coordinates } = name === 'trajectory' ? { coordinates: options } : (options as { coordinates?: unknown });
    if (coordinates !== undefined)
      checkCoordinates(coordinates as TrajectoryOptions, (path, expected) => fault([...at, ...path], expected));
  }
}

/** A mapping whose values may be left out in a later file or arm by null. */
export const withoutNulls = <T>(mapping: Readonly<Record<string, T | null>>): Record<string, T> =>
  Object.fromEntries(Object.entries(mapping).filter((entry): entry is [string, T] => entry[1] !== null));

/** A member that there is none of by its name, which is a key. */
export function addUnknownKey(
  key: string,
  known: readonly string[],
  context: Pick<z.core.$RefinementCtx, 'issues'>,
): void {
  context.issues.push({ code: 'unrecognized_keys', keys: [key], known, path: [] } as never);
}
