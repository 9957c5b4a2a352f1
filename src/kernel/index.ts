/** What a query may see: policies, slices as of a moment, their signatures, and the one authority that signs them. */

export { Kernel, type KernelOptions, type ShownKey } from './authority/kernel.ts';
export type { SliceProvenance } from './client/allowance.ts';
export type { AskedSlice, VerifiedSlice } from './client/asked-slice.ts';
export { createHttpAuthority, type HttpAuthority, type HttpAuthorityInput } from './client/http-authority.ts';
export {
  SliceEnforcingClient,
  type SliceEnforcingClientOptions,
  type SlicePart,
  type SliceRerank,
  type SliceScopedResults,
  type SliceScopedTurn,
  type SliceSearchRequest,
} from './client/slice-enforcing-client.ts';
export { SliceVerifier, type SliceVerifierOptions } from './client/slice-verifier.ts';
export { type SlicePolicy, type SlicePolicyInput, slicePolicySchema } from './policies/policy.ts';
export { formatPolicyRef } from './policies/policy-ref.ts';
export { createKernelService, type KernelService, type KernelServiceOptions } from './service/kernel-service.ts';
export { createKeyFile, readKeyFile, writeKeyFile } from './service/key-file.ts';
export {
  ADMISSIBILITY_REASONS,
  AdmissibilityError,
  type AdmissibilityReason,
} from './signatures/admissibility-error.ts';
export { formatCanonicalJson } from './signatures/canonical-json.ts';
export { generateKey, type KernelKey, type KeyRing, rotateKeys } from './signatures/kernel-keys.ts';
export type {
  SliceAuthority,
  SliceExport,
  SlicePayload,
  SliceRequest,
  SliceRequestInput,
  SliceScope,
} from './signatures/slice-export.ts';
export { computeCorpusVersion } from './slices/corpus-version.ts';
export {
  type AllowedTurns,
  type ScopedQuery,
  type ScopedTurn,
  type SliceSearch,
  searchCandidates,
  searchVectors,
} from './slices/slice-search.ts';
export { type SliceWalk, walkSlice } from './slices/slice-walk.ts';
export { TurnGraph } from './slices/turn-graph.ts';
