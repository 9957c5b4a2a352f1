import xxhash from 'xxhash-wasm';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import { formatCanonicalJson } from './canonical-json.ts';

const { h64ToString } = await xxhash();

/** Ids in the order of their bytes, as a slice lists them. */
export function sortIds(ids: readonly string[]): string[] {
  return [...ids].sort(compareBytes);
}

/**
 * xxh64 of the canonical JSON of a list of ids, 16 hex digits. A checksum, no signature.
 *
 * @param text the canonical JSON of the ids, where it is known.
 */
export function computeFingerprint(ids: readonly string[], text: string = formatCanonicalJson(ids)): string {
  return h64ToString(text);
}
