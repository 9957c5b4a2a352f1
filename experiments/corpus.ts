import { type ExperimentConfig, loadConfig } from '../src/lab/config/config.ts';
import { openArmRunner } from '../src/lab/run/arm-runner.ts';
import type { Dataset } from '../src/model/dataset.ts';
import type { Workspace } from '../src/rank/signals/workspace.ts';
import type { StudyContext } from './study.ts';

/** A config's data, embedded. */
interface OpenedConfig {
  readonly config: ExperimentConfig;
  readonly dataset: Dataset;
  /** Of the queries of the config's table. */
  readonly workspace: Workspace;
}

/** Lends `use` the corpus, queries and vectors of a config file; no arm of it is run. */
export async function withConfig<T>(
  file: string,
  context: StudyContext,
  use: (opened: OpenedConfig) => Promise<T>,
): Promise<T> {
  const config = loadConfig(file);
  const runner = await openArmRunner(config, context);
  try {
    return await use({ config, dataset: runner.dataset, workspace: await runner.openArmWorkspace() });
  } finally {
    await runner.dispose();
  }
}
