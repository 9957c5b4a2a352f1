import { parse } from '../../../core/validation/validation.ts';
import { type SlicePolicy, slicePolicySchema } from '../../../kernel/policies/policy.ts';
import { readYaml } from '../../../lab/composition/config-file.ts';

/** A policy as YAML or JSON. @throws ConfigurationError with every fault. */
export function readPolicyFile(path: string): SlicePolicy {
  return parse(slicePolicySchema, readYaml(path), path);
}
