import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { findOwnFile, PROJECT_ROOT } from '../../core/code/package-root.ts';
import { RagPlusPlusError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import type { BackendName } from '../../core/tensors/active-backend.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import { parseOrNull } from '../../core/validation/validation.ts';
import { loadDataset } from '../../data/registry.ts';
import type { ExperimentConfig } from '../config/config.ts';
import { recordPath } from '../run/arm-record.ts';
import { measuringVersion, runHash } from '../run/environment.ts';
import { isUnderWay, type RunState, readState } from '../run/partial-folder.ts';
import { FINISHED } from '../run/run-folder.ts';

const finishedRun = z.strictObject({
  /** When the process of the run began, in milliseconds since 1970-01-01 UTC. */
  started: z.number(),
  /** Version of the code that ranks, measures and reports. */
  code: z.string(),
  /** The output of the command. */
  shown: z.string(),
  /** File -> hash of its content. */
  files: z.record(z.string(), z.string()),
});

/** A finished run whose result is that of a config. */
export interface FoundRun {
  readonly folder: string;
  /** The output of the command. */
  readonly shown: string;
  /** When its process began. */
  readonly started: Date;
}

/** Code of the report that runs in a browser: no module imports it. */
const CLIENT = 'lab/report/client';

/** True if files were neither written nor replaced since a moment. Tests are no code of a run. */
function isOlder(path: string, moment: number): boolean {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return false;
  if (!facts.isDirectory()) return facts.ctimeMs < moment;
  const inside = readdirSync(path).filter((name) => !/\.(test|harness|fixture|oracle|cases)\.ts$/.test(name));
  return inside.every((name) => isOlder(join(path, name), moment));
}

/** The list of what npm has installed: of this package's own folder, or of the one that it is installed in. */
const listInstalled = (): string =>
  [join(PROJECT_ROOT, 'node_modules'), join(PROJECT_ROOT, '..')]
    .map((folder) => join(folder, '.package-lock.json'))
    .find((path) => existsSync(path)) ?? join(PROJECT_ROOT, 'package.json');

/** True if the code of a run is that of today. Its version takes a second, so times of files are looked at first. */
function isOfTodaysCode({ started, code }: z.output<typeof finishedRun>): boolean {
  if (!isOlder(listInstalled(), started)) return false;
  return isOlder(findOwnFile(''), started) || (isOlder(findOwnFile(CLIENT), started) && code === measuringVersion());
}

/** True if every file is there as the run has written it. */
function isWhole(folder: string, files: Readonly<Record<string, string>>): boolean {
  return Object.entries(files).every(([name, hash]) => {
    const path = join(folder, name);
    return existsSync(path) && computeHash(readFileSync(path)) === hash;
  });
}

/** The record of a folder's run; null for an unfinished run, and for one whose files were cut short or altered. */
function readFinished(folder: string): (z.output<typeof finishedRun> & { readonly state: RunState }) | null {
  try {
    const finished = parseOrNull(finishedRun, JSON.parse(readText(join(folder, FINISHED))));
    return finished && { ...finished, state: readState(folder) };
  } catch (error) {
    if (error instanceof RagPlusPlusError || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** True if hashes cover all that a config depends on: not a kernel's keys, nor files that tuning chooses. */
const isHashed = ({ arms }: ExperimentConfig) =>
  arms.every(({ slice, tune }) => !slice && !Object.keys(tune).some((path) => path.startsWith('embedding.')));

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
    if (finished === null || finished.state.hash !== runHash(config, finished.state.dataHash, backend)) continue;
    const { arms, dataHash } = finished.state;
    if (!isOfTodaysCode(finished) || !isWhole(folder, finished.files)) return null;
    if (!arms.every((arm) => existsSync(recordPath(folder, arm)))) return null;
    const dataset = await loadDataset(config.dataset, { cacheFolder: join(cacheFolder, 'datasets'), progress });
    if (dataset.hash !== dataHash) continue;
    return { folder, shown: finished.shown, started: new Date(finished.started) };
  }
  return null;
}
