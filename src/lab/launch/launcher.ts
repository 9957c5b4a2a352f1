import { z } from 'zod';
import type { BlobStore } from '../../core/files/blob-store.ts';
import type { BackendName } from '../../core/tensors/backend.ts';
import type { StageCounts } from '../../rank/signals/stage.ts';
import type { Program } from './own-process.ts';

const oneLine = z.string().regex(/^[^\r\n]+$/, 'one line');

const slurmOptions = z.strictObject({
  name: z.literal('slurm'),
  /** Arms at once, the throttle of the array; null for as many as the cluster takes. */
  workers: z.int().min(1).nullable().default(null),
  partition: oneLine.optional(),
  account: oneLine.optional(),
  /** The time limit of one arm, as sbatch takes it: `30`, `02:00:00`, `1-12`. */
  time: oneLine.optional(),
  /** The memory of one arm, for example `8G`. */
  memory: oneLine.optional(),
  cpusPerTask: z.int().min(1).optional(),
  /** Further options of sbatch, for example `--gres=gpu:1`; they come last. */
  sbatch: z.array(oneLine.regex(/^-/, 'an option of sbatch')).default([]),
  /** Shell lines before an arm is run, for example `module load nodejs`. */
  setup: z.array(oneLine).default([]),
  pollSeconds: z.number().min(0.1).default(10),
});
export type SlurmOptions = z.output<typeof slurmOptions>;

export const slurm = { options: slurmOptions, description: 'a job array of Slurm, an arm a task' };

const queueOptions = z.strictObject({
  name: z.literal('queue'),
  /** `postgres://user@host:port/database`, without a password. */
  queue: oneLine,
  /** An arm whose worker is not heard of for this time goes to another one. */
  leaseSeconds: z.number().min(1).max(86_400).default(15),
  pollSeconds: z.number().min(0.1).max(3600).default(0.5),
  /** The most that the data and the cache entries of all runs take in the database. */
  blobMebibytes: z.int().min(1).max(1_048_576).default(4096),
});
export type QueueOptions = z.output<typeof queueOptions>;

export const queue = { options: queueOptions, description: 'workers that share a Postgres database and no folder' };

/** Receives how far an arm is, from 0 to 1. */
export type ReportShare = (share: number) => void;

/** The file that an arm leaves: its record, or what it failed of. */
export interface ArmOutcome {
  readonly isFailure: boolean;
  readonly bytes: Uint8Array;
}

/** The outcomes that arms leave in the folder of a run, well or not. */
export interface ArmOutcomes {
  has(arm: string): boolean;
  /** Writes the outcome that an arm left on another machine. */
  accept(arm: string, outcome: ArmOutcome): void;
  /** Records that an arm failed. */
  fail(arm: string, error: unknown): void;
}

/** Work that arms have in common: its result is left in the cache. */
export interface SharedTask {
  readonly id: string;
  /** The tasks whose results it reads. */
  readonly needs: readonly string[];
  /** Tasks of one place read the same data: one process is best given those of one. */
  readonly place: string;
  /** Sent to the process that does it. */
  readonly request: SharedRequest;
}

/** A workspace of the run with the encoder of an arm, or a stage of the arm there. */
export interface StageRequest {
  readonly arm: string;
  readonly workspace: 'tuning' | 'table';
  readonly stage?: string;
  /** The stage reads no vectors, and so does not wait for them. */
  readonly withoutVectors?: boolean;
}

/** A workspace; a stage there, with the first values of the arm's grid; or a part of the points of the grid. */
export type SharedRequest = StageRequest | { readonly arm: string; readonly part: number; readonly parts: number };

/** Work of processes before the arms. */
export interface SharedWork {
  readonly tasks: readonly SharedTask[];
  /** Arm -> the tasks that it needs. */
  readonly needs: ReadonlyMap<string, readonly string[]>;
  /** Takes the cost of a task. */
  readonly note: (stages: StageCounts) => void;
}

/** The data of a run, which processes may open before the run has a folder. */
export interface RunData {
  /** The resolved config, without plugins and slices. */
  readonly config: object;
  /** The folder of its data, see `setDataFolder`. */
  readonly dataFolder: string | null;
}

/** Processes that were started before there is a run. */
export interface StartedProcesses {
  /** Has them open the data of the run that is launched later, and do tasks that need no other. */
  open(data: RunData, work: SharedWork): void;
  /** Ends those that still run. */
  end(): void;
}

/** The program, backend and cache of a process that runs arms. */
export interface ProcessJob {
  /** The command line, to be started on other processors. */
  readonly program: Program;
  readonly backend: BackendName;
  /** Absolute. */
  readonly cacheFolder: string;
}

/** Arms to be run, and where. */
export interface LaunchJob extends ProcessJob {
  /** The folder of the run, with its frozen config and state; absolute. */
  readonly folder: string;
  /** Names of the arms without an outcome. */
  readonly arms: readonly string[];
  /** What the arms have left in the folder so far. */
  readonly outcomes: ArmOutcomes;
  /** Plans what the arms share, for processes that make it once; without it each arm makes what it needs. */
  readonly plan?: (workers: number) => Promise<SharedWork>;
  /**
   * Offers the data of the run, and what the cache has for its arms, to machines that share no folder with this one.
   *
   * @returns the files that the folder of the run needs there besides its own: name -> text.
   */
  readonly offer?: (blobs: BlobStore) => Promise<Readonly<Record<string, string>>>;
  /** Runs an arm in this process and leaves its outcome in the folder. */
  readonly runHere: (arm: string) => Promise<unknown>;
  /** Told how much of an arm is done, from 0 to 1. */
  readonly report: (arm: string, share: number) => void;
  /** Once it is aborted, whatever was started ends, and `launch` rejects. */
  readonly signal: AbortSignal;
}

/**
 * Has arms run: in this process, in others, on other machines. Each arm leaves a record or a failure in the folder, which is all that is known of it
 * afterwards. To add one: a file with its options and its class, and a line in `registry.ts`.
 */
export interface Launcher {
  readonly name: string;
  /** The maximum number of arms to run at the same time, of a number of arms; at least 1. */
  countArmsAtOnce(arms: number): number;
  /** Starts processes for as many arms, which load their code while the data of the run is read. */
  start?(job: ProcessJob, arms: number): Promise<StartedProcesses>;
  /** Resolves when nothing that was started is running any more. */
  launch(job: LaunchJob): Promise<void>;
}

const options = z.strictObject({
  name: z.literal('local'),
  /** Arms at once. One runs in this process, several in a process and with a backend each. */
  workers: z.int().min(1).default(1),
});
export type LocalOptions = z.output<typeof options>;

export const local = {
  options,
  description: 'this machine: one arm at a time in this process, or several in processes',
};
