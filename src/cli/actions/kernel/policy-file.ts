import { type SlicePolicy, slicePolicySchema } from '../../../admissibility/policy.ts';
import { parse } from '../../../core/validation.ts';
import { readYaml } from '../../../experiment/config/config-file.ts';

/** A policy as YAML or JSON. @throws ConfigurationError with every fault. */
export function readPolicyFile(path: string): SlicePolicy {
  return parse(slicePolicySchema, readYaml(path), path);
}
