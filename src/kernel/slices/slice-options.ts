import { z } from 'zod';
import { slicePolicySchema } from '../policies/policy.ts';
import { publicKeySchema } from '../signatures/kernel-keys.ts';
import type { SliceAuthority } from '../signatures/slice-export.ts';

/** The keys that a client trusts. */
export interface SliceTrust {
  /** Ed25519 in hex. */
  readonly publicKeys: readonly string[];
  /** Hash of the stored slices that are used again; null: a kernel signs them. */
  readonly replayed: string | null;
}

/** The source of a run's slices. It holds no secret. */
export interface SliceSource {
  /** @throws AdmissibilityError if nothing is known that could be trusted. */
  findTrust(slice: SliceOptions): SliceTrust;
  /** The kernel, started on first use. @throws AdmissibilityError. */
  openAuthority(slice: SliceOptions): Promise<SliceAuthority>;
}

const publicKeys = z
  .union([publicKeySchema, z.array(publicKeySchema).min(1)])
  .transform((keys) => (typeof keys === 'string' ? [keys] : keys));

/** What the queries of an arm may see: a policy, the kernel that signs its slices, and the public keys that are trusted. */
export const sliceOptions = z
  .strictObject({
    policy: slicePolicySchema,
    /** `local` starts a kernel for the run; a URL is that of `ragpp kernel serve`. */
    kernel: z.union([z.literal('local'), z.string().regex(/^https?:\/\//, 'local, or an http URL')]).default('local'),
    /** Ed25519 in hex. Those of a local kernel are known. */
    publicKey: publicKeys.optional(),
  })
  .superRefine(({ policy, kernel, publicKey }, context) => {
    const addIssue = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (kernel === 'local' && publicKey !== undefined)
      addIssue(['publicKey'], 'nothing with kernel: local, whose keys are made for it');
    if (kernel !== 'local' && publicKey === undefined)
      addIssue(['publicKey'], 'the public key of the kernel (64 hex digits), or a list of them: ragpp kernel inspect');
    if (policy.hierarchy !== null)
      addIssue(['policy', 'hierarchy'], 'null: an arm asks for one slice a query; use two levels through the client');
  });

/** The checked option `slice` of an arm. */
export type SliceOptions = z.output<typeof sliceOptions>;
