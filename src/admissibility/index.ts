/** What a query may see: policies, slices as of a moment, their signatures, and the one authority that signs them. */

export { ADMISSIBILITY_REASONS, AdmissibilityError, type AdmissibilityReason } from './admissibility-error.ts';
export type { SliceProvenance } from './allowance.ts';
export type { AskedSlice, VerifiedSlice } from './asked-slice.ts';
export { formatCanonicalJson } from './canonical-json.ts';
export { computeCorpusVersion } from './corpus-version.ts';
export { createHttpAuthority, type HttpAuthority, type HttpAuthorityInput } from './http-authority.ts';
export { Kernel, type KernelOptions, type ShownKey } from './kernel.ts';
export { generateKey, type KernelKey, type KeyRing, rotateKeys } from './kernel-keys.ts';
export { type SlicePolicy, type SlicePolicyInput, slicePolicySchema } from './policy.ts';
export { formatPolicyRef } from './policy-ref.ts';
export { createKernelService, type KernelService, type KernelServiceOptions } from './service/kernel-service.ts';
export { createKeyFile, readKeyFile, writeKeyFile } from './service/key-file.ts';
export {
  SliceEnforcingClient,
  type SliceEnforcingClientOptions,
  type SlicePart,
  type SliceRerank,
  type SliceScopedResults,
  type SliceScopedTurn,
  type SliceSearchRequest,
} from './slice-enforcing-client.ts';
export type {
  SliceAuthority,
  SliceExport,
  SlicePayload,
  SliceRequest,
  SliceRequestInput,
  SliceScope,
} from './slice-export.ts';
export {
  type AllowedTurns,
  type ScopedQuery,
  type ScopedTurn,
  type SliceSearch,
  searchCandidates,
  searchVectors,
} from './slice-search.ts';
export { SliceVerifier, type SliceVerifierOptions } from './slice-verifier.ts';
export { type SliceWalk, walkSlice } from './slice-walk.ts';
export { TurnGraph } from './turn-graph.ts';
