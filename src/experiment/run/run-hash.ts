import type { BackendName } from '../../core/backend.ts';
import { computeHash } from '../../core/hash.ts';
import type { ExperimentConfig } from '../config/config.ts';

/** Identity of an experiment's results: of its config without the launcher and the paths of plugins, its data and the backend. 12 hexadecimal digits. */
export function runHash(config: ExperimentConfig, dataHash: string, backend: BackendName): string {
  const { launcher: _, plugins, ...experiment } = config;
  const code = plugins?.map(({ module: __, ...identity }) => identity);
  const covered = code === undefined ? experiment : { ...experiment, plugins: code };
  return computeHash([covered, dataHash, backend]).slice(0, 12);
}
