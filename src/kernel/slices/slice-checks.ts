import { ListHash } from '../../core/hash/hash.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { AdmissibilityError } from '../signatures/admissibility-error.ts';
import { computeFingerprint } from '../signatures/fingerprint.ts';
import type { SliceExport, SliceScope } from '../signatures/slice-export.ts';

/** The inputs of a slice, turn by turn. */
function listWalked({ id, conversationId, parentId, timestamp, author, channel, attributes }: Turn): unknown[] {
  return [id, conversationId, parentId, timestamp, author, channel, attributes?.phase, attributes?.references];
}

/**
 * The identity of everything that slices of a corpus depend on: texts do not count, one more turn does. It is the hash
 * of the list of turns, which later turns continue.
 */
export class CorpusVersion {
  readonly #turns = new ListHash();

  /** @param turn the next one in time order. */
  add(turn: Turn): void {
    this.#turns.add(listWalked(turn));
  }

  /** The version of the turns so far, 16 hex digits. */
  read(): string {
    return this.#turns.read().slice(0, 16);
  }
}

/** @throws AdmissibilityError for ids that are not in the order of their bytes, or repeat. */
export function assertIdOrder({ turnIds }: Pick<SliceExport, 'turnIds'>): void {
  for (let i = 1; i < turnIds.length; i++)
    if (compareBytes(turnIds[i - 1] as string, turnIds[i] as string) >= 0)
      throw new AdmissibilityError(
        'order',
        `ids of a slice are not in the order of their bytes, each once: ${turnIds[i]} is number ${i + 1}; ask the kernel again`,
        { turnId: turnIds[i] },
      );
}

/**
 * @param text the canonical JSON of the ids, where it is known.
 * @throws AdmissibilityError if the fingerprint is not that of the ids.
 */
export function assertFingerprint(
  { turnIds, fingerprint }: Pick<SliceExport, 'turnIds' | 'fingerprint'>,
  text?: string,
): void {
  const expected = computeFingerprint(turnIds, text);
  if (expected !== fingerprint)
    throw new AdmissibilityError(
      'fingerprint',
      `ids of a slice were changed: their fingerprint is ${expected}, the slice says ${fingerprint}; ask the kernel again`,
      { expected, fingerprint },
    );
}

/**
 * @param at milliseconds since 1970.
 * @param tolerance milliseconds by which the clock that `at` was read from may differ from that of the kernel.
 * @throws AdmissibilityError for a slice that is not valid at a moment.
 */
export function assertValidAt(
  { issuedAt, expiresAt }: Pick<SliceExport, 'issuedAt' | 'expiresAt'>,
  at: number,
  tolerance = 0,
): void {
  if (at >= expiresAt + tolerance)
    throw new AdmissibilityError(
      'expired',
      `slice expired ${at - expiresAt} ms before it was used; ask the kernel again`,
      { expiresAt, at },
    );
  if (at < issuedAt - tolerance)
    throw new AdmissibilityError(
      'not-yet-valid',
      `slice is of a later moment: it was issued ${issuedAt - at} ms after it is used; ask for a slice of this moment, or compare the clocks`,
      { issuedAt, at },
    );
}

const SCOPE_FIELDS = ['anchorTurnId', 'conversationId', 'author', 'channel'] as const satisfies (keyof SliceScope)[];

/** The first field in which two scopes differ; null for none. */
export function findScopeDifference(a: SliceScope, b: SliceScope): keyof SliceScope | null {
  return SCOPE_FIELDS.find((field) => a[field] !== b[field]) ?? null;
}
