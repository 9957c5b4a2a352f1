import { useBackend } from '../src/core/tensors/backend.ts';
import type { ExperimentConfig } from '../src/lab/config/config.ts';
import type { ExperimentResult } from '../src/lab/measure/result.ts';
import { runExperiment } from '../src/lab/run/run.ts';

/** A run in a process of its own, so that each begins as cold as the command line does. */
export interface SweepTask {
  readonly config: ExperimentConfig;
  /** Empty for a cold run. */
  readonly cacheFolder: string;
}

/** The cost of a run. */
export interface RunCost {
  /** From the config to the result, without starting the process. */
  readonly seconds: number;
  /** Of the processor, which other work on the machine does not lengthen much. */
  readonly cpuSeconds: number;
  readonly timings: ExperimentResult['timings'];
  readonly stages: ExperimentResult['stages'];
  readonly backend: string;
}

const task = JSON.parse(process.argv[2]!) as SweepTask;
const backend = await useBackend(task.config.backend);
const before = process.cpuUsage();
const started = performance.now();
const { result } = await runExperiment(task.config, {
  backend,
  cacheFolder: task.cacheFolder,
  command: 'npm run bench -- sweep',
});
const seconds = (performance.now() - started) / 1000;
const { user, system } = process.cpuUsage(before); // microseconds
if (result.failures.length > 0) throw new Error(result.failures[0]!.message);
const cpuSeconds = (user + system) / 1e6;
process.send!({ seconds, cpuSeconds, timings: result.timings, stages: result.stages, backend } satisfies RunCost);
