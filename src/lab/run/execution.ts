import type { BackendName } from '../../core/tensors/backend.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import type { ArmOptions, ExperimentConfig } from '../config/config.ts';
import type { ArmFailure, Environment } from '../measure/result.ts';
import { buildArmFailure, type Outcomes } from './arm-failure.ts';
import type { ArmRecord } from './arm-record.ts';
import type { ArmRunner } from './arm-runner.ts';
import type { SliceKeys } from './replayed-slices.ts';

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
  readonly #summary: (failed: number) => string;

  constructor({ progress, runner }: PreparedRun, arms: number) {
    this.#bar = progress('arms', arms);
    this.#summary = (failed) =>
      `${arms} arms on ${runner.queries.length} queries${failed === 0 ? '' : `, ${failed} failed`}`;
  }

  /** @param share of the arm that is done, from 0 to 1. */
  report(arm: string, share: number): void {
    this.#shares.set(arm, share);
    this.#bar.update([...this.#shares.values()].reduce((sum, part) => sum + part, 0));
  }

  finish(failed: number): void {
    this.#bar.finish(this.#summary(failed));
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
