import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TensorOps } from '../core/tensors/tensor-op.harness.ts';
import type { Plain } from './composition/config-file.ts';
import { loadConfig, openConfig, resolveConfig } from './config/config.ts';
import { listInstalledPlugins, uninstallPlugin } from './plugins/install.ts';
import { loadPlugin } from './plugins/load.ts';
import { buildSampleConfig } from './run/jsonl.fixture.ts';
import { SAMPLE_RUN, writeSampleRun } from './run/run-folder.fixture.ts';
import { writeRunFolder } from './run/run-folder.ts';
import { compareRuns } from './stored/run-comparison.ts';
import { findRunFolders, readRunSummary } from './stored/run-summary.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples/plugins', import.meta.url));
const PLUGIN = join(EXAMPLES, 'metric.ts');
const PLUGIN_CONFIG = join(EXAMPLES, 'experiment.yaml');
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

/** What is made of a run's folder. */
const useRunFolder = <T>(work: (folder: string) => T): T =>
  useNewFolder((root) => {
    const folder = join(root, 'run');
    writeSampleRun(folder, SAMPLE_RUN);
    return work(folder);
  });

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
  askArm: { provedIn: 'src/lab/ask/ask.test.ts' },
  compareRuns: {
    use: () => useRunFolder((folder) => compareRuns(folder, folder).arms.length),
    refuses: [[() => useRunFolder((folder) => compareRuns(folder, `${folder}-absent`)), /metrics\.json/]],
  },
  findRunFolders: {
    use: () => useRunFolder((folder) => findRunFolders(folder).length),
    refuses: [[() => useRunFolder((folder) => findRunFolders(`${folder}-absent`)), /absent/]],
  },
  readRunSummary: {
    use: () => useRunFolder((folder) => readRunSummary(folder).arms.length),
    refuses: [[() => useRunFolder((folder) => readRunSummary(`${folder}-absent`)), /metrics\.json/]],
  },
  writeRunFolder: {
    use: () =>
      useNewFolder((root) => {
        writeRunFolder(join(root, 'run'), { 'a.txt': 'a' });
        return readdirSync(join(root, 'run')).length;
      }),
    refuses: [],
  },
  loadConfig: {
    use: () => countLoadedArms(),
    refuses: [[() => countLoadedArms('seed=soup'), /seed \(--set\): expected one whole number/]],
  },
  loadPlugin: {
    use: async () => (await loadPlugin(PLUGIN)).name.length,
    refuses: [[() => loadPlugin(`${PLUGIN}-absent`), /no file is there/]],
  },
  openConfig: {
    use: () => countOpenedArms(),
    refuses: [[() => countOpenedArms('seed=soup'), /seed \(--set\): expected one whole number/]],
  },
  planStages: { provedIn: 'src/lab/run/stage-plan.test.ts' },
  resolveConfig: {
    use: () => resolveConfig(config, 'sample').arms.length,
    refuses: [[() => resolveConfig({}, 'nothing'), /in nothing/]],
  },
  runFiles: { provedIn: 'src/lab/run/run.test.ts' },
  runExperiment: { provedIn: 'src/lab/run/run.test.ts' },
};
