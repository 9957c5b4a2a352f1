import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ProcessDiedError, ValidationError } from '../../core/errors/errors.ts';
import { addCost } from '../../core/tensors/active-backend.ts';
import type { BackendName } from '../../core/tensors/backend.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import { yaml } from '../../core/values/yaml.ts';
import type { EncoderUse } from '../../model/encoder.ts';
import { sumCounts } from '../../rank/signals/stage.ts';
import type { ArmOptions, ExperimentConfig } from '../config/config.ts';
import type { Launcher, LaunchJob } from '../launch/launcher.ts';
import { findOwnProgram } from '../launch/own-process.ts';
import type { ArmFailure, Environment } from '../measure/result.ts';
import {
  type ArmRecord,
  buildArmFailure,
  hasOutcome,
  joinFailurePath,
  type Outcomes,
  outcomesIn,
  readOutcomes,
  removeDamagedOutcomes,
} from './arm-record.ts';
import { type ArmRunner, runArmTask } from './arm-runner.ts';
import { readEncoderUse, withEncoderUse } from './environment.ts';
import {
  assertContinues,
  describeRunState,
  formatState,
  type Opening,
  PartialFolder,
  type RunFiles,
  type RunState,
  STATE,
} from './partial-folder.ts';
import { assertSameSliceKeys, formatSliceKeys, KEYS, type SliceKeys } from './run-slices.ts';

/** An experiment whose data is loaded and embedded, so that its arms can be run. */
export interface PreparedRun {
  readonly config: ExperimentConfig;
  /** The arms that are run. */
  readonly arms: readonly ArmOptions[];
  /** Repetitions that rank as their arm does and are not run, with the name of the arm. */
  readonly idle: ReadonlyMap<string, string>;
  /** Identity of the config, the data and the backend. */
  readonly hash: string;
  readonly environment: Environment;
  readonly backend: BackendName;
  /** Null where nothing is kept. */
  readonly cacheFolder: string | null;
  /** Of this process. */
  readonly runner: ArmRunner;
  readonly progress: StartProgress;
  /** Whose slices are trusted; null without an arm that has slices. */
  readonly sliceKeys: SliceKeys | null;
  /** Once it is aborted, the run rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** Has the arms of an experiment run, somewhere. An arm that fails is an outcome, not an error. */
export type Execute = (run: PreparedRun) => Promise<Outcomes>;

/** One progress bar for all arms, which counts the parts of each. */
export class ArmsProgress {
  readonly #shares = new Map<string, number>();
  readonly #bar: ReturnType<StartProgress>;
  readonly #summary: string;

  constructor({ progress, runner }: PreparedRun, arms: number) {
    this.#bar = progress('arms', arms);
    this.#summary = `${arms} arms on ${runner.queries.length} queries`;
  }

  /** @param share of the arm that is done, from 0 to 1. */
  readonly report = (arm: string, share: number): void => {
    this.#shares.set(arm, share);
    this.#bar.update([...this.#shares.values()].reduce((sum, part) => sum + part, 0));
  };

  finish(failed: number): void {
    this.#bar.finish(failed === 0 ? this.#summary : `${this.#summary}, ${failed} failed`);
  }
}

/** Runs the arms in this process, one after the other, and keeps their rankings in memory only. */
export const executeHere: Execute = async (run) => {
  const progress = new ArmsProgress(run, run.arms.length);
  const records: ArmRecord[] = [];
  const failures: ArmFailure[] = [];
  for (const arm of run.arms) {
    try {
      const report = (share: number) => progress.report(arm.name, share);
      records.push(await run.runner.run(arm.name, report, 1, run.signal));
    } catch (error) {
      run.signal?.throwIfAborted();
      failures.push(buildArmFailure(arm, error));
    }
    progress.report(arm.name, 1);
  }
  progress.finish(failures.length);
  return { records, failures };
};

interface FolderExecutionOptions {
  /** The folder of the runs. */
  readonly results: string;
  readonly opening: Opening;
  readonly launcher: Launcher;
  /** Aborted when the run must end at once. */
  readonly signal: AbortSignal;
  /** The folder, in that of the run, in which processes that run arms leave their profiles; without it they make none. */
  readonly profiles?: string;
}

const ENVIRONMENT = 'environment.json';

/** Removes damaged outcomes so that their arms run again, and reports them. */
function dropDamaged({ arms, progress }: PreparedRun, folder: string): void {
  const names = arms.map(({ name }) => name);
  const damaged = removeDamagedOutcomes(folder, names);
  if (damaged.length === 0) return;
  progress('damaged records', damaged.length).finish(`these arms run again: ${damaged.join(', ')}`);
}

function describeLostArm({ name }: Launcher, arm: string): ProcessDiedError {
  return new ProcessDiedError(`launcher ${name} ended without a record of arm: ${arm}; run again with --retry-failed`);
}

/**
 * Has arms run by a launcher, each leaving its record in the folder of the run, from which a later process can go on
 * wherever this one ends. Once: the folder belongs to the execution from `execute` to `finish` or `release`.
 */
export class FolderExecution {
  readonly #options: FolderExecutionOptions;
  #folder: PartialFolder | null = null;
  /** The facts that all arms of the run share; null before `execute`. */
  state: RunState | null = null;

  constructor(options: FolderExecutionOptions) {
    this.#options = options;
  }

  /**
   * @throws UnavailableError while another process has the run's folder, ValidationError if an earlier run of it cannot
   *   be resumed.
   */
  async execute(run: PreparedRun): Promise<Outcomes> {
    const { results, opening, signal } = this.#options;
    const folder = PartialFolder.open(resolve(results, `${run.config.name}-${run.hash}`), opening);
    this.#folder = folder;
    signal.addEventListener('abort', () => this.release(), { once: true });
    const earlierUse = this.#begin(run, folder);
    dropDamaged(run, folder.path);
    const pending = run.arms.map(({ name }) => name).filter((name) => !hasOutcome(folder.path, name));
    const progress = new ArmsProgress(run, pending.length);
    const elsewhere = new Set(pending);
    await this.#launch(run, folder.path, elsewhere, progress);
    const outcomes = readOutcomes(folder.path, run.arms);
    for (const { name, stages } of [...outcomes.records, ...run.runner.shared])
      if (elsewhere.has(name)) addCost(sumCounts(stages));
    progress.finish(outcomes.failures.filter(({ name }) => pending.includes(name)).length);
    return { ...outcomes, earlierUse };
  }

  /** Writes the description of the run. @returns the calls of services by the processes that began it */
  #begin(run: PreparedRun, folder: PartialFolder): EncoderUse[] {
    const { launcher, opening } = this.#options;
    this.state = describeRunState(run, run.runner.dataset.hash, launcher.countArmsAtOnce(run.arms.length));
    assertContinues(folder.path, this.state);
    if (run.sliceKeys !== null) assertSameSliceKeys(folder.path, run.sliceKeys);
    if (opening === 'retry-failed')
      for (const { name } of run.arms) rmSync(joinFailurePath(folder.path, name), { force: true });
    const from = existsSync(join(folder.path, ENVIRONMENT)) ? folder.path : folder.target;
    const earlier = opening === 'fresh' ? [] : readEncoderUse(from);
    const environment = withEncoderUse(run.environment, [...earlier, ...(run.environment.encoderUse ?? [])]);
    folder.write({
      'config.yaml': yaml().stringify(run.config),
      [ENVIRONMENT]: `${JSON.stringify(environment, null, 2)}\n`,
      [STATE]: formatState(this.state),
      ...(run.sliceKeys && { [KEYS]: formatSliceKeys(run.sliceKeys) }),
    });
    return earlier;
  }

  /** @param elsewhere the arms, of which those that run in this process are removed */
  async #launch(run: PreparedRun, folder: string, elsewhere: Set<string>, progress: ArmsProgress): Promise<void> {
    const arms = [...elsewhere];
    if (arms.length === 0) return;
    const { launcher, signal, profiles } = this.#options;
    const { runner, backend, cacheFolder } = run;
    if (cacheFolder === null)
      throw new ValidationError('run has no cache folder, which arms in other processes share: null; name one');
    const runHere = async (arm: string) =>
      elsewhere.delete(arm) && runArmTask(folder, runner, arm, (share) => progress.report(arm, share));
    const plan = async (workers: number) => (await import('./shared-work.ts')).planSharedWork(runner, arms, workers);
    const offer: LaunchJob['offer'] = async (blobs) =>
      (await import('./offered-data.ts')).offerData(runner, arms, blobs);
    const program = findOwnProgram(profiles === undefined ? null : join(folder, profiles));
    const job = { folder, arms, backend, signal, outcomes: outcomesIn(folder), program };
    await launcher.launch({ ...job, plan, offer, runHere, report: progress.report, cacheFolder: resolve(cacheFolder) });
    for (const arm of arms) if (!job.outcomes.has(arm)) job.outcomes.fail(arm, describeLostArm(launcher, arm));
  }

  /** Puts the folder in its place with the last files. @returns where. */
  finish(files: RunFiles): string {
    const folder = this.#folder as PartialFolder;
    folder.finish(files);
    this.#folder = null;
    return folder.target;
  }

  /**
   * Takes the folder away, of an execution whose outcomes are of no further use; nothing to do after `finish` or
   * `release`.
   */
  discard(): void {
    this.#folder?.remove();
    this.#folder = null;
  }

  /** Releases the folder for a later process; does nothing after `finish`. */
  release(): void {
    this.#folder?.release();
    this.#folder = null;
  }
}
