import { computeHash } from '../../core/hash/hash.ts';
import type { BackendName } from '../../core/tensors/backend.ts';
import type { ExperimentConfig } from '../config/config.ts';

/** Where a kernel listens changes no slice. */
function withoutKernelAddress({ slice, ...arm }: ExperimentConfig['arms'][number]) {
  if (!slice) return slice === undefined ? arm : { ...arm, slice };
  const { kernel, ...signed } = slice;
  return { ...arm, slice: { ...signed, isLocal: kernel === 'local' } };
}

/** Identity of an experiment's results: of its config without the launcher and the paths of plugins, its data and the backend. 12 hexadecimal digits. */
export function runHash(config: ExperimentConfig, dataHash: string, backend: BackendName): string {
  const { launcher: _, plugins, arms, ...rest } = config;
  const experiment = { ...rest, arms: arms.map(withoutKernelAddress) };
  const code = plugins?.map(({ module: __, ...identity }) => identity);
  const covered = code === undefined ? experiment : { ...experiment, plugins: code };
  return computeHash([covered, dataHash, backend]).slice(0, 12);
}
