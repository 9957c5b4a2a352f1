import { DimensionMismatchError } from '../../core/errors/errors.ts';
import type { TextOwner } from '../../model/encoder.ts';

/** @throws DimensionMismatchError when owners are given, but not one for each text. */
export function assertOneOwnerEach(texts: readonly string[], owners: readonly TextOwner[] | undefined): void {
  if (owners !== undefined && owners.length !== texts.length)
    throw new DimensionMismatchError('owners of texts', texts.length, owners.length, 'pass one owner for each text');
}
