import { z } from 'zod';

const text = z.string().max(4096);
const nullableText = text.nullable();
const moment = z.number('a moment in milliseconds since 1970').min(0);

/** What a slice was asked for: a slice of one person or channel is none of another. */
export const sliceScopeSchema = z.strictObject({
  /** The turn that the query names. */
  anchorTurnId: nullableText.default(null),
  conversationId: nullableText.default(null),
  author: nullableText.default(null),
  channel: nullableText.default(null),
});
/** What a slice was asked for: the turn that the query names, a conversation, an author and a channel, each or null. */
export type SliceScope = z.output<typeof sliceScopeSchema>;

/** A scope as it is signed: every field is there, since a default would hide that one was removed. */
const signedScopeSchema = z.strictObject({
  anchorTurnId: nullableText,
  conversationId: nullableText,
  author: nullableText,
  channel: nullableText,
});

/** Everything that a signature binds, so that no slice passes for one of another anchor, policy, corpus, moment or query. */
export const slicePayloadSchema = z.strictObject({
  /** Where the walk started; null if the query has no anchor and the policy says what it sees. */
  anchorTurnId: nullableText,
  scope: signedScopeSchema,
  policyRef: text,
  /** In the order of their bytes, each once. */
  turnIds: z.array(text).max(10_000_000),
  corpusVersion: text,
  /** Milliseconds since 1970: only turns strictly earlier exist for the slice. */
  issuedAt: moment,
  expiresAt: moment,
  keyId: text,
  /** SHA-256 of the canonical payload of the slice that this one refines, in hex; null for a first slice. */
  previous: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
});
/** What the token of a slice binds. */
export type SlicePayload = z.output<typeof slicePayloadSchema>;

/** A signed slice, as it leaves the kernel. */
export const sliceExportSchema = slicePayloadSchema.extend({
  /** xxh64 of the canonical list of ids, 16 hex digits. */
  fingerprint: z.string().regex(/^[0-9a-f]{16}$/),
  /** HMAC-SHA256 of the payload in hex, which the kernel alone can check. */
  admissibilityToken: z.string().regex(/^[0-9a-f]{64}$/),
  /** Ed25519 of the canonical JSON of all other fields in hex, which everyone can check with the public key. */
  signature: z.string().regex(/^[0-9a-f]{128}$/),
});
/** The signed ids of the turns that a query may see, and what they are bound to. */
export type SliceExport = z.output<typeof sliceExportSchema>;

/** What a kernel is asked for. */
export const sliceRequestSchema = z.strictObject({
  policyRef: text,
  scope: sliceScopeSchema,
  /** The moment of the query in milliseconds since 1970; null: now. */
  asOf: moment.nullable().default(null),
  /** With a policy of two levels: the first slice, and the first results that the second is refined around, best first. */
  refine: z
    .strictObject({ slice: sliceExportSchema, around: z.array(text).min(1).max(100) })
    .nullable()
    .default(null),
});
/** What a kernel is asked for, see {@link sliceRequestSchema}. */
export type SliceRequest = z.output<typeof sliceRequestSchema>;
/** A request as written: what has a default may be left out. */
export type SliceRequestInput = z.input<typeof sliceRequestSchema>;

/** Whoever may say what a query sees. */
export interface SliceAuthority {
  /** @throws AdmissibilityError. */
  slice(request: SliceRequestInput, signal?: AbortSignal): Promise<SliceExport>;
  /**
   * Checks that the authority has signed a slice, by its secret.
   *
   * @param at the moment of use in milliseconds since 1970; null: now.
   * @throws AdmissibilityError for a slice that is altered, expired, or of an earlier corpus.
   */
  verify(slice: SliceExport, at: number | null, signal?: AbortSignal): Promise<void>;
}
