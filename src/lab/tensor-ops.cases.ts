import { fileURLToPath } from 'node:url';
import type { TensorOps } from '../core/tensors/tensor-op.harness.ts';
import { openConfig } from './config/config.ts';
import { uninstallPlugin } from './plugins/install.ts';
import { listInstalledPlugins } from './plugins/resolved-plugin.ts';

const PLUGIN_CONFIG = fileURLToPath(new URL('../../examples/plugins/experiment.yaml', import.meta.url));

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
  openConfig: {
    use: () => countOpenedArms(),
    refuses: [[() => countOpenedArms('seed=soup'), /seed \(--set\): expected one whole number/]],
  },
  runExperiment: { provedIn: 'src/lab/run/run.test.ts' },
  serveArm: { provedIn: 'src/lab/run/arm-replay.test.ts' },
};
