import { attachDisplay } from '../../core/display/display.ts';
import { RagPlusPlusError } from '../../core/errors/errors.ts';
import { measureCost } from '../../core/tensors/active-backend.ts';
import type { BackendName } from '../../core/tensors/backend.ts';
import {
  finishStepsWithBreaks,
  ignoreProgress,
  letEventsIn,
  type StartProgress,
} from '../../core/terminal/progress.ts';
import { getOrCompute } from '../../core/values/once.ts';
import { isFittedEncoder } from '../../index/encoders/registry.ts';
import type { Dataset } from '../../model/dataset.ts';
import type { EncoderUse } from '../../model/encoder.ts';
import type { Qrels, Run, Superseded } from '../../model/run.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { UserWeights, Weights } from '../../rank/learning/weight-file.ts';
import { buildRun } from '../../rank/retrieval/retriever.ts';
import { addCounts } from '../../rank/signals/stage.ts';
import { indexControls, listArmsToRun, listRepetitions } from '../config/arm-selection.ts';
import type { ArmOptions, ExperimentConfig } from '../config/config.ts';
import {
  type Measurement,
  type MeasurementOptions,
  measureArms,
  selectJudgements,
  startStatistics,
  stepThroughArms,
} from '../measure/measurement.ts';
import { describeLook, type TestLook } from '../measure/passport.ts';
import type { ExperimentResult } from '../measure/result.ts';
import { buildResultBundle, displayResult } from '../measure/warning.ts';
import type { ArmRecord, Outcomes } from './arm-record.ts';
import { type ArmRunner, openArmRunner } from './arm-runner.ts';
import { captureEnvironment, runHash, stageVersion, withEncoderUse } from './environment.ts';
import { type Execute, executeHere, type PreparedRun } from './execution.ts';
import type { Raced } from './race-run.ts';
import { assembleResult, type MeasuredRun } from './run-result.ts';
import type { ReplayedSlices, RunSlices, SliceKeys } from './run-slices.ts';
import { collectRemarks, findRunWarnings } from './run-warnings.ts';

/** Where a run is executed: the active backend, the cache folder, the command line that it stores, and its progress report (by default none). */
export interface RunContext {
  /** The active backend, see `useBackend`. */
  readonly backend: BackendName;
  /** Where prepared datasets, embeddings and the results of stages are kept. */
  readonly cacheFolder: string;
  /** The command line. */
  readonly command: string;
  readonly progress?: StartProgress;
}

/** A run that needs no folder and no file. */
export interface OpenRunContext extends Omit<RunContext, 'cacheFolder'> {
  /** Null keeps everything in memory. */
  readonly cacheFolder: string | null;
  /** By default the dataset that the config names. */
  readonly dataset?: Dataset;
  /** Stored slices, which are verified and used in the place of kernels. */
  readonly replay?: ReplayedSlices;
  /** Has other processes fit the encoders that need the texts alone; without it they are fitted here. */
  readonly fitElsewhere?: (runner: ArmRunner) => Promise<void>;
  /** Once it is aborted, the run rejects with its reason; looked at whenever progress is shown. */
  readonly signal?: AbortSignal;
}

/** The outcome of an experiment in memory: the result for reports, and the full rankings, judgements and corpus that it was measured with. */
export interface FinishedRun {
  readonly result: ExperimentResult;
  /** The rankings of the evaluated queries, by arm name. */
  readonly runs: ReadonlyMap<string, Run>;
  readonly qrels: Qrels;
  /** The superseded turns of the dataset; absent if it does not say. */
  readonly superseded?: Superseded;
  readonly corpus: Corpus;
  /** The records of the arms that finished. */
  readonly records: readonly ArmRecord[];
  /** As it ran. */
  readonly config: ExperimentConfig;
  /** Whose slices were trusted; null without an arm that has slices. */
  readonly sliceKeys: SliceKeys | null;
  /** At a test split; null where no test query was measured. */
  readonly look: TestLook | null;
  /** Weights of a fit, by the names of their files. */
  readonly weights?: ReadonlyMap<string, Weights>;
  /** Weights of users, of a fit that learns them. */
  readonly users?: UserWeights | null;
}

/** Notes how long each stage took, and shows it. */
class Stopwatch {
  readonly timings: ExperimentResult['timings'][number][] = [];

  async time<T>(stage: string, work: () => Promise<T>): Promise<T> {
    await letEventsIn();
    const { result, all } = await measureCost(work);
    this.timings.push({ stage, ...all });
    return result;
  }
}

/** Measures empty rankings, so that invalid queries are an error before any arm runs. @throws ValidationError. */
function assertMeasurable({ evaluation, seed }: ExperimentConfig, { dataset, queries }: ArmRunner): void {
  const { baseline, metrics, level } = evaluation;
  const options = { metrics: metrics.slice(0, 1), baseline, samples: 1, level, seed };
  measureArms(new Map([[baseline, new Map()]]), dataset, queries, options);
}

/** @throws RagPlusPlusError if every arm failed. */
function assertSome({ records, failures }: Outcomes): void {
  const [first] = failures;
  if (records.length > 0 || first === undefined) return;
  throw new RagPlusPlusError(first.code, `every arm failed, the first, ${first.name}, with: ${first.message}`, {
    failures,
  });
}

/** The figures of the arms, which many of them take a while to compute. */
async function measureOutcomes(
  { runner: { dataset, queries }, progress }: PreparedRun,
  runs: ReadonlyMap<string, Run>,
  how: MeasurementOptions,
): Promise<Measurement> {
  const bar = startStatistics(progress, runs.size, how.metrics);
  const measurement = await finishStepsWithBreaks(stepThroughArms(runs, dataset, queries, how), (done) =>
    bar.update(done),
  );
  bar.finish();
  return measurement;
}

/** The outcomes of the arms that the table has rows of. A failed repetition is a failure. */
function withoutRepetitions({ records, failures }: Outcomes): Outcomes {
  return { records: records.filter(({ options }) => options.repeats === null), failures };
}

/** The rankings with those of repetitions that were not run, which are those of their arms. */
function withIdleRepetitions(
  runs: ReadonlyMap<string, Run>,
  idle: ReadonlyMap<string, string>,
): ReadonlyMap<string, Run> {
  const same = [...idle].flatMap(([name, arm]) => {
    const run = runs.get(arm);
    return run === undefined ? [] : [[name, run] as const];
  });
  return new Map([...runs, ...same]);
}

/** The rankings of repetitions by the arm that they repeat and their number. */
function indexRepetitions({ arms, seed }: ExperimentConfig, runs: ReadonlyMap<string, Run>) {
  const repetitions = new Map<string, Map<number, Run>>();
  for (const { arm, number, name } of listRepetitions(arms, seed)) {
    const run = runs.get(name);
    if (run !== undefined) getOrCompute(repetitions, arm, () => new Map<number, Run>()).set(number, run);
  }
  return repetitions;
}

/** Measures the results of the arms. Retrieves nothing except for the remarks. */
async function measureRun(run: PreparedRun, outcomes: Outcomes, raced: Raced, watch: Stopwatch): Promise<FinishedRun> {
  const { config, runner, idle } = run;
  const { dataset, queries } = runner;
  const ranked = new Map(outcomes.records.map((record) => [record.name, buildRun(dataset.corpus, queries, record)]));
  const runs = withIdleRepetitions(ranked, idle);
  const shown = withoutRepetitions(outcomes);
  const controls = indexControls(shown.records.map(({ options }) => options));
  const repetitions = indexRepetitions(config, runs);
  const how = { ...config.evaluation, controls, repetitions, seed: config.seed };
  const own = new Map(shown.records.map(({ name }) => [name, runs.get(name) as Run]));
  const measurement = await watch.time('statistics', () => measureOutcomes(run, own, how));
  await runner.takeStageCounts(); // of what was timed
  const remarks = await watch.time('remarks', async () => collectRemarks(runner, config, measurement, shown));
  const warnings = await findRunWarnings(runner, config, shown.records, own, measurement.queries);
  const counted = await runner.takeStageCounts();
  const stages = addCounts(
    raced.stages,
    ...[...runner.shared, ...outcomes.records].map((done) => done.stages),
    counted,
  );
  const { stopped } = raced;
  const finished: MeasuredRun = {
    run,
    outcomes: shown,
    stopped,
    measurement,
    remarks,
    warnings,
    stages,
    timings: watch.timings,
  };
  const { records } = outcomes;
  const result = displayResult(await assembleResult(finished));
  const look = describeLook(dataset, queries, result);
  const judged = { ...selectJudgements(dataset, queries), corpus: dataset.corpus };
  const shownRun = { result, runs, ...judged, records, config, sliceKeys: run.sliceKeys, look };
  return attachDisplay(shownRun, () => buildResultBundle(result));
}

/** The date and time, to the second. */
function formatNow(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}

/**
 * True if the vectors of every arm need the texts alone: no file, no service, no kernel. A race runs its rounds before
 * the arms.
 */
function isFittedByTasks({ arms, embedding, evaluation }: ExperimentConfig): boolean {
  const isFitted = (arm: ArmOptions) => !arm.slice && isFittedEncoder(arm.embedding ?? embedding);
  return evaluation.race === null && arms.every(isFitted);
}

async function prepare(
  config: ExperimentConfig,
  context: OpenRunContext,
  runner: ArmRunner,
  uses: readonly EncoderUse[],
  slices: RunSlices | null,
): Promise<PreparedRun> {
  const { backend, cacheFolder, command, progress = ignoreProgress, signal } = context;
  const sliceKeys = slices?.keys ?? null;
  const handOver = context.fitElsewhere && isFittedByTasks(config) ? context.fitElsewhere : undefined;
  await handOver?.(runner); // meanwhile what follows is done here
  const planned = { dataset: runner.dataset, config, code: stageVersion, ...(slices && { slices }) };
  const idle = config.arms.some(({ repeats }) => repeats !== null)
    ? (await import('./stage-plan.ts')).findIdleRepetitions(planned)
    : new Map<string, string>();
  const arms = listArmsToRun(config).filter(({ name }) => !idle.has(name));
  assertMeasurable(config, runner);
  if (handOver === undefined) await runner.prepare(arms);
  const hash = runHash(config, runner.dataset.hash, backend);
  const captured = captureEnvironment(backend, config.seed, command, config.dataset, config.plugins);
  const environment = withEncoderUse({ ...captured, date: formatNow() }, [...uses]);
  const heeded = signal === undefined ? {} : { signal };
  return { config, arms, idle, hash, environment, backend, cacheFolder, runner, progress, sliceKeys, ...heeded };
}

/** Progress that throws the reason of an abort, wherever the work shows how far it is. */
function heed({ progress = ignoreProgress, signal }: OpenRunContext): StartProgress {
  if (signal === undefined) return progress;
  return (stage, total) => {
    signal.throwIfAborted();
    const shown = progress(stage, total);
    return {
      update(done) {
        signal.throwIfAborted();
        shown.update(done);
      },
      finish: (remark) => shown.finish(remark),
    };
  };
}

/**
 * Runs an experiment from config to result: loads the data, has each arm tuned on the held-out part of dev and ranked with an encoder fitted on all of dev, and
 * measures. The result is the same for the same config, data and backend, wherever the arms are run. An arm that fails is among the result's failures.
 *
 * @param execute runs the arms; by default in this process.
 * @param executeRound runs the rounds of a race, see {@link runRace}.
 * @throws RagPlusPlusError with the first failure's code where every arm fails.
 */
export async function runExperiment(
  config: ExperimentConfig,
  given: OpenRunContext,
  execute: Execute = executeHere,
  executeRound: Execute = executeHere,
): Promise<FinishedRun> {
  const context = { ...given, progress: heed(given) };
  const watch = new Stopwatch();
  const uses: EncoderUse[] = [];
  const noteUse = (use: EncoderUse) => void uses.push(use);
  const { cacheFolder, replay = null } = context;
  const hasSlices = config.arms.some(({ slice }) => slice);
  const slices = hasSlices
    ? await (await import('./run-slices.ts')).RunSlices.open({
        config,
        cacheFolder,
        replay,
        isLoadable: given.dataset === undefined,
      })
    : null;
  let runner: ArmRunner | null = null;
  try {
    const inputs = { ...context, noteUse, ...(slices && { slices }) };
    const opened = await watch.time('dataset', () => openArmRunner(config, inputs));
    runner = opened;
    const run = await watch.time('embedding', () => prepare(config, context, opened, uses, slices));
    const { race } = config.evaluation;
    const raced =
      race === null
        ? { arms: run.arms, stopped: [], stages: {} }
        : await watch.time('race', async () => (await import('./race-run.ts')).runRace(run, race, executeRound));
    const left = { ...run, arms: raced.arms };
    const outcomes = await watch.time('arms', () => execute(left));
    assertSome(outcomes);
    const environment = withEncoderUse(run.environment, [...(outcomes.earlierUse ?? []), ...uses]);
    return await measureRun({ ...left, environment }, outcomes, raced, watch);
  } finally {
    await runner?.dispose();
    await slices?.close();
  }
}
