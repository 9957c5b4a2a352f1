import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TensorOps } from '../core/tensors/tensor-op.harness.ts';
import type { Plain } from './composition/config-file.ts';
import { loadConfig, openConfig } from './config/config.ts';
import { uninstallPlugin } from './plugins/install.ts';
import { listInstalledPlugins } from './plugins/resolved-plugin.ts';
import { buildSampleConfig } from './run/jsonl.fixture.ts';

const PLUGIN_CONFIG = fileURLToPath(new URL('../../examples/plugins/experiment.yaml', import.meta.url));
const config = buildSampleConfig('folder') as Plain;

/** Hands a new folder to the work, and removes it when that is done. */
function useNewFolder<T>(work: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-folder-'));
  try {
    return work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function countLoadedArms(...overrides: string[]): number {
  return useNewFolder((folder) => {
    const path = join(folder, 'sample.yaml');
    writeFileSync(path, JSON.stringify(config));
    return loadConfig(path, overrides).arms.length;
  });
}

/** Of a config with plugins, which other tests must not find installed. */
async function countOpenedArms(...overrides: string[]): Promise<number> {
  try {
    return (await openConfig(PLUGIN_CONFIG, overrides)).arms.length;
  } finally {
    for (const { name } of listInstalledPlugins()) uninstallPlugin(name);
  }
}

export const TENSOR_OPS: TensorOps = {
  askArm: { provedIn: 'src/lab/run/ask.test.ts' },
  loadConfig: {
    use: () => countLoadedArms(),
    refuses: [[() => countLoadedArms('seed=soup'), /seed \(--set\): expected one whole number/]],
  },
  openConfig: {
    use: () => countOpenedArms(),
    refuses: [[() => countOpenedArms('seed=soup'), /seed \(--set\): expected one whole number/]],
  },
  runExperiment: { provedIn: 'src/lab/run/run.test.ts' },
};
