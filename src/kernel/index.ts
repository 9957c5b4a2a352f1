/** What a query may see: policies, slices as of a moment, their signatures, and the one authority that signs them. */

export { Kernel } from './authority/kernel.ts';
export { createHttpAuthority } from './client/http-authority.ts';
export { SliceEnforcingClient } from './client/slice-enforcing-client.ts';
export { SliceVerifier } from './client/slice-verifier.ts';
export { slicePolicySchema } from './policies/policy.ts';
export { formatPolicyRef } from './policies/policy-ref.ts';
export { createKernelService } from './service/kernel-service.ts';
export { AdmissibilityError } from './signatures/admissibility-error.ts';
export { generateKey } from './signatures/kernel-keys.ts';
export type { SliceAuthority } from './signatures/slice-export.ts';
export { searchCandidates } from './slices/slice-search.ts';
