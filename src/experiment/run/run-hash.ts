import type { BackendName } from '../../core/backend.ts';
import { hashOf } from '../../core/hash.ts';
import type { ExperimentConfig } from '../config/config.ts';

/** Identity of what an experiment finds: of its config but for where the arms are run, its data and the backend. 12 hexadecimal digits. */
export function runHash(config: ExperimentConfig, dataHash: string, backend: BackendName): string {
  const { launcher: _, ...experiment } = config;
  return hashOf([experiment, dataHash, backend]).slice(0, 12);
}
