import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BackendName } from '../../core/tensors/active-backend.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import { loadDataset } from '../../data/registry.ts';
import type { ExperimentConfig } from '../config/config.ts';
import { runHash } from '../run/environment.ts';
import { isUnderWay } from '../run/partial-folder.ts';
import { describeFound, type FoundRun, isHashed, isOfTodaysCode, isWhole, readFinished } from './finished-record.ts';

/** The place of the runs, and how a config is run there. */
export interface SearchedRuns {
  /** The folder of the runs. */
  readonly results: string;
  readonly cacheFolder: string;
  readonly backend: BackendName;
  readonly progress: StartProgress;
}

/**
 * The finished run of a config: of the same config, with the files that it names, of the same data, backend and code,
 * whose files are whole and none of whose arms failed. null where there is none: then the config is to be run.
 */
export async function findFinishedRun(
  config: ExperimentConfig,
  { results, cacheFolder, backend, progress }: SearchedRuns,
): Promise<FoundRun | null> {
  if (!isHashed(config)) return null;
  const names = readdirSync(results).filter((name) => name.startsWith(`${config.name}-`) && !isUnderWay(name));
  for (const folder of names.map((name) => join(results, name))) {
    const finished = readFinished(folder);
    if (finished === null || finished.hash !== runHash(config, finished.dataHash, backend)) continue;
    if (!isWhole(folder, finished) || !(await isOfTodaysCode(finished))) return null;
    const dataset = await loadDataset(config.dataset, { cacheFolder: join(cacheFolder, 'datasets'), progress });
    if (dataset.hash === finished.dataHash) return describeFound(folder, finished);
  }
  return null;
}
