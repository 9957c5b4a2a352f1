import { join } from 'node:path';
import { ValidationError } from '../../core/errors/errors.ts';
import type { BackendName } from '../../core/tensors/backend.ts';
import { wrapContent } from '../composition/config-composition.ts';
import { readYaml } from '../composition/config-file.ts';
import { resolveConfig } from '../config/config.ts';
import type { ReportShare } from '../launch/launcher.ts';
import { installConfigPlugins } from '../plugins/config-plugins.ts';
import { writeFailure } from './arm-failure.ts';
import { recordPath, writeArmRecord } from './arm-record.ts';
import { type ArmRunner, openArmRunner } from './arm-runner.ts';
import { recordVersion } from './code-version.ts';
import { restoreDataFolder } from './environment.ts';
import { readSliceKeys } from './replayed-slices.ts';
import { runHash } from './run-hash.ts';
import { BegunSlices } from './run-slices.ts';
import { listDifferingFacts, readState } from './run-state.ts';

/**
 * Runs an arm and leaves its record in the folder of a begun run, or what it failed of. Rejects only where that cannot be written.
 *
 * @returns whether the arm failed.
 */
export async function runArmTask(
  folder: string,
  runner: ArmRunner,
  arm: string,
  report?: ReportShare,
): Promise<boolean> {
  const { armsAtOnce } = readState(folder);
  let record: Awaited<ReturnType<ArmRunner['run']>>;
  try {
    record = await runner.run(arm, report, armsAtOnce);
  } catch (error) {
    writeFailure(folder, arm, error);
    return true;
  }
  writeArmRecord(recordPath(folder, arm), record);
  return false;
}

/**
 * Opens a run that another process has begun, to run some of its arms.
 *
 * @param folder the run's folder, with its frozen config.
 * @param backend the active one.
 * @throws ValidationError where code, data or backend are not those that the run was begun with.
 */
export async function joinRun(folder: string, backend: BackendName, cacheFolder: string): Promise<ArmRunner> {
  const path = join(folder, 'config.yaml');
  const raw = readYaml(path);
  await installConfigPlugins(wrapContent(raw, path));
  const config = resolveConfig(raw, path);
  restoreDataFolder(config.dataset, folder);
  const slices = new BegunSlices(readSliceKeys(folder));
  const runner = await openArmRunner(config, { cacheFolder, slices });
  const dataHash = runner.dataset.hash;
  const hash = runHash(config, dataHash, backend);
  const begun = readState(folder);
  const differing = listDifferingFacts(begun, { ...begun, hash, recordVersion: recordVersion(), dataHash, backend });
  if (differing.length > 0)
    throw new ValidationError(
      `run was begun with another ${differing.join(', ')}: ${folder}; start it again without --resume`,
      { folder, differing },
    );
  return runner;
}
