import { basename, join, relative, resolve } from 'node:path';
import { computeHash } from '../../core/hash/hash.ts';
import { type BackendChoice, type BackendName, useBackend } from '../../core/tensors/backend.ts';
import { createTerminalProgress, letEventsIn, printOut } from '../../core/terminal/progress.ts';
import { quoteShellWord } from '../../core/text/format.ts';
import { findUsedDataFolder } from '../../data/prepared/prepared.ts';
import { findFittedArm, listArmsToRun } from '../../lab/config/arm-selection.ts';
import type { ExperimentConfig } from '../../lab/config/config.ts';
import type { Launcher, StartedProcesses } from '../../lab/launch/launcher.ts';
import { findOwnProgram } from '../../lab/launch/own-process.ts';
import { createLauncher, type LauncherOptions } from '../../lab/launch/registry.ts';
import type { CpuProfile } from '../../lab/measure/profile.ts';
import type { ExperimentResult } from '../../lab/measure/result.ts';
import { withCountedLook } from '../../lab/measure/test-looks.ts';
import { describeIdleSteps, describeSlices } from '../../lab/report/tables/side-tables.ts';
import { renderText } from '../../lab/report/tables/text-table.ts';
import { recordPath } from '../../lab/run/arm-record.ts';
import type { ArmRunner } from '../../lab/run/arm-runner.ts';
import { measuringVersion } from '../../lab/run/environment.ts';
import { type Execute, FolderExecution } from '../../lab/run/execution.ts';
import { formatState, type Opening, type RunFiles, type RunState, STATE } from '../../lab/run/partial-folder.ts';
import { writeRunFolder } from '../../lab/run/run-folder.ts';
import { ReplayedSlices } from '../../lab/run/run-slices.ts';
import { cacheSizeRemark } from '../../lab/stored/cache-contents.ts';
import { FINISHED, type FinishedRecord, formatFinished, type Repetition } from '../../lab/stored/finished-record.ts';
import { runOrFit } from '../../lab/workbench/finished-experiment.ts';
import { renderRunFiles } from '../../lab/workbench/run-files.ts';
import type { ConfigChanges, LauncherChoice } from '../options/options.ts';
import { interruption, runHeedingTermination } from '../process/supervision.ts';
import { typedChanges } from './changed-config.ts';

export interface RunOptions extends ConfigChanges, LauncherChoice {
  readonly backend?: BackendChoice;
  readonly cache: string;
  readonly results: string;
  readonly resume?: true;
  readonly retryFailed?: true;
  readonly replaySlices?: string;
  readonly profile?: true;
  readonly again?: true;
}

/** The command as somebody else would type it: what changes the result, without where and how often it was run. */
function formatRunCommand(config: string, options: RunOptions): string {
  const { backend } = options;
  const words = ['ragpp', 'run', relative(process.cwd(), config), ...typedChanges(options)];
  return [...words, ...(backend === undefined ? [] : ['--backend', backend])].map(quoteShellWord).join(' ');
}

interface RunStart {
  readonly config: ExperimentConfig;
  readonly backend: BackendName;
  readonly options: RunOptions;
}

/** A launcher with the processes that wait for a run. */
interface RunLauncher extends Launcher {
  readonly started?: StartedProcesses;
}

/** A launcher of other processes: they start at once, and this process waits for them and can end cleanly. */
async function openProcesses(where: LauncherOptions, { config, backend, options }: RunStart): Promise<RunLauncher> {
  const launcher = await createLauncher(where);
  // Profiles are left in the folder of the run, which is not known yet.
  const isEarly = options.profile === undefined && findFittedArm(config) === null;
  const job = { program: findOwnProgram(), backend, cacheFolder: resolve(options.cache) };
  const started = isEarly ? await launcher.start?.(job, listArmsToRun(config).length) : undefined;
  return {
    name: launcher.name,
    countArmsAtOnce: (arms) => launcher.countArmsAtOnce(arms),
    launch: (job) => runHeedingTermination(() => launcher.launch(job)),
    ...(started && { started }),
  };
}

/** Has processes open the data of a run, and the encoders that each arm needs. */
async function openData({ started }: RunLauncher, runner: ArmRunner): Promise<void> {
  const { config } = runner.source;
  const { planOpenings } = await import('../../lab/run/shared-work.ts');
  started?.open({ config, dataFolder: findUsedDataFolder(config.dataset) }, planOpenings(runner));
  await letEventsIn(); // what is asked is sent
}

/** The output of the command for a result, with the report's path after it. */
function describe(result: ExperimentResult): string {
  const { arms, environment, fit } = result;
  const remarks = fit === undefined ? result.remarks : []; // those of a fit are below its tables
  const below = [...describeIdleSteps(arms), ...describeSlices(arms), ...remarks];
  const backend = `backend ${environment.backend} (${environment.backendReason})`;
  return `\n${[renderText(result), ...below, backend].join('\n')}\n`;
}

/**
 * The files of a run with the one from which the same run is shown, see `findFinishedRun`; without it where an arm
 * failed, and of a fit.
 */
function sealFiles(
  written: RunFiles,
  target: string,
  state: RunState | null,
  made: Pick<FinishedRecord, 'shown' | 'repetition'>,
): RunFiles {
  if (state === null) return written;
  const files = { ...written, [STATE]: formatState(state) };
  const hashes: Record<string, string | null> = {};
  for (const [name, content] of Object.entries(files)) hashes[name] = computeHash(content);
  for (const name of state.arms) hashes[recordPath('', name)] = null;
  const { hash, dataHash } = state;
  const run = { hash, dataHash, target, files: hashes };
  const finished = { started: performance.timeOrigin, code: measuringVersion(), ...run, ...made };
  return { ...files, [FINISHED]: formatFinished(finished) };
}

/** The folder of profiles in that of a run. */
const PROFILES = 'profile';

async function startProfile(): Promise<CpuProfile> {
  const { CpuProfile: Profile, watchGarbage } = await import('../../lab/measure/profile.ts');
  watchGarbage();
  return Profile.start();
}

async function showProfile({ stages }: ExperimentResult): Promise<void> {
  const { formatStageTable } = await import('../../lab/report/tables/stage-table.ts');
  printOut(`\n${formatStageTable(stages)}\n`);
}

/** The profile of this process and the table of the stages, for the folder of the run. */
async function finishProfile(profile: CpuProfile, { stages }: ExperimentResult): Promise<RunFiles> {
  const { formatStageCsv } = await import('../../lab/report/tables/stage-table.ts');
  return { [`${PROFILES}/main.cpuprofile`]: await profile.stop(), [`${PROFILES}/stages.csv`]: formatStageCsv(stages) };
}

/**
 * Computes the run of a config and writes its folder.
 *
 * @param path of the config.
 * @param where the arms are run.
 * @param repetition by which the same command is answered without its config being read.
 */
export async function computeRun(
  config: ExperimentConfig,
  path: string,
  where: LauncherOptions,
  options: RunOptions,
  repetition: Repetition | null,
): Promise<ExperimentResult> {
  const backend = await useBackend(options.backend ?? config.backend);
  const isHere = where.name === 'local' && where.workers === 1;
  const start = { config, backend, options };
  const launcher: RunLauncher = await (isHere ? createLauncher(where) : openProcesses(where, start));
  const { results, cache: cacheFolder, resume, retryFailed } = options;
  const progress = createTerminalProgress();
  const profile = options.profile === true ? await startProfile() : null;
  const opening: Opening = (retryFailed && 'retry-failed') ?? (resume && 'resume') ?? 'fresh';
  const place = { results, opening, launcher, signal: interruption, ...(profile && { profiles: PROFILES }) };
  const execution = new FolderExecution(place);
  const rounds: FolderExecution[] = [];
  const executeRound: Execute = (prepared) => {
    const round = new FolderExecution(place);
    rounds.push(round);
    return round.execute(prepared);
  };
  try {
    const replay = options.replaySlices === undefined ? {} : { replay: new ReplayedSlices(options.replaySlices) };
    // A run with earlier records may have no arm left that needs an encoder.
    const isNew = opening === 'fresh' && config.plugins === undefined;
    const fitElsewhere = (runner: ArmRunner) => (isNew ? openData(launcher, runner) : Promise.resolve());
    const isLocal = where.name === 'local' && !isHere;
    const command = formatRunCommand(path, options);
    const context = { backend, cacheFolder, command, progress, ...replay, ...(isLocal && { fitElsewhere }) };
    const ran = await runOrFit(config, context, (prepared) => execution.execute(prepared), executeRound);
    const finished = withCountedLook(ran, results);
    const report = progress('report', 1);
    const rendered = renderRunFiles(finished);
    const written = profile === null ? rendered : { ...rendered, ...(await finishProfile(profile, finished.result)) };
    const { name, hash, fit, failures } = finished.result;
    const shown = describe(finished.result);
    const target = resolve(results, `${name}-${hash}`);
    const state = fit !== undefined || failures.length > 0 ? null : execution.state;
    const files = sealFiles(written, target, state, { shown, repetition });
    const folder = fit ? writeRunFolder(target, files) : execution.finish(files);
    for (const round of rounds) round.discard();
    report.finish();
    printOut(`${shown}\nreport: ${join(results, basename(folder), 'report.html')}\n`);
    if (profile !== null) await showProfile(finished.result);
    const remark = cacheSizeRemark(cacheFolder);
    if (remark !== null) printOut(`${remark}\n`);
    return finished.result;
  } finally {
    for (const begun of [execution, ...rounds]) begun.release();
    launcher.started?.end();
  }
}
