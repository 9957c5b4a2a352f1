import type { SliceAuthority } from '../signatures/slice-export.ts';
import type { SliceOptions } from './slice-options.ts';

/** What a client trusts. */
export interface SliceTrust {
  /** Ed25519 in hex. */
  readonly publicKeys: readonly string[];
  /** Hash of the stored slices that are used again; null: a kernel signs them. */
  readonly replayed: string | null;
}

/** Where the slices of a run come from. It holds no secret. */
export interface SliceSource {
  /** @throws AdmissibilityError if nothing is known that could be trusted. */
  findTrust(slice: SliceOptions): SliceTrust;
  /** The kernel, started on first use. @throws AdmissibilityError. */
  openAuthority(slice: SliceOptions): Promise<SliceAuthority>;
}
