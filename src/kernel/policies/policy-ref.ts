import { computeHash } from '../../core/hash/hash.ts';
import { formatCanonicalJson } from '../signatures/canonical-json.ts';
import type { SlicePolicy } from './policy.ts';

/** `careful@2#0123456789abcdef`: the name and version of a policy, and the begin of the hash of its content, so that two contents never have one name. */
export function formatPolicyRef(policy: SlicePolicy): string {
  return `${policy.id}@${policy.version}#${computeHash(formatCanonicalJson(policy)).slice(0, 16)}`;
}
