import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import type { AskedSlice } from '../../kernel/client/asked-slice.ts';
import { SliceVerifier } from '../../kernel/client/slice-verifier.ts';
import { slicePolicySchema } from '../../kernel/policies/policy.ts';
import { AdmissibilityError } from '../../kernel/signatures/admissibility-error.ts';
import { kernelKeySchema } from '../../kernel/signatures/kernel-keys.ts';
import { readPublicKey } from '../../kernel/signatures/public-key.ts';
import { isSignedBy, Signer } from '../../kernel/signatures/signature.ts';
import { sliceExportSchema, slicePayloadSchema, sliceScopeSchema } from '../../kernel/signatures/slice-export.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { EXACT, type GoldenCase, type Part, type Topic } from './topic.ts';

const turn = z.strictObject({
  id: z.string(),
  conversationId: z.string(),
  parentId: z.string().nullable(),
  timestamp: z.number(),
  author: z.string().nullable(),
  channel: z.string().nullable(),
});
const signatureCase = z.looseObject({
  turns: z.array(turn),
  policy: slicePolicySchema,
  scope: sliceScopeSchema,
  key: kernelKeySchema,
  publicKey: z.string(),
  retiredKeyIds: z.array(z.string()),
  slice: sliceExportSchema,
  /** The moment at which the slice is used. */
  at: z.number(),
  /** The payload that the key signs, in a case that expects an `export`. */
  payload: slicePayloadSchema.optional(),
  expected: z.strictObject({
    made: z.boolean(),
    signature: z.boolean(),
    offline: z.string(),
    export: sliceExportSchema.optional(),
  }),
});
type SignatureCase = z.output<typeof signatureCase>;

/** `valid`, or the reason why a verifier that holds public keys alone refuses the slice. */
function verifyOffline({ turns, policy, scope, publicKey, retiredKeyIds, slice, at }: SignatureCase): string {
  const corpus = new Corpus(turns.map((of) => ({ ...of, text: 'golden', attributes: {} })));
  const verifier = new SliceVerifier({ publicKeys: [publicKey], retiredKeyIds, corpus });
  const asked: AskedSlice = { policy, scope, asOf: null, first: null };
  try {
    verifier.verify(slice, asked, at);
    return 'valid';
  } catch (error) {
    if (error instanceof AdmissibilityError) return error.reason;
    throw error;
  }
}

/** Tokens and signatures of slices, and which altered slices are refused, by which check. */
export const signatures: Topic = {
  name: 'signatures',
  compute(input: GoldenCase): readonly Part[] {
    const golden = parse(signatureCase, input, input.name);
    const signer = new Signer(golden.key);
    const got: Record<string, unknown> = {
      made: signer.hasMade(golden.slice),
      signature: isSignedBy(golden.slice, readPublicKey(golden.publicKey)),
      offline: verifyOffline(golden),
      export: golden.payload && signer.sign(golden.payload),
    };
    return Object.entries(golden.expected).map(([at, expected]) => ({ at, expected, got: got[at], tolerance: EXACT }));
  },
};
