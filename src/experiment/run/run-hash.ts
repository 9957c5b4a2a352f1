import type { BackendName } from '../../core/backend.ts';
import { computeHash } from '../../core/hash.ts';
import type { ExperimentConfig } from '../config/config.ts';

/** Identity of an experiment's results: of its config without the launcher, its data and the backend. 12 hexadecimal digits. */
export function runHash(config: ExperimentConfig, dataHash: string, backend: BackendName): string {
  const { launcher: _, ...experiment } = config;
  return computeHash([experiment, dataHash, backend]).slice(0, 12);
}
