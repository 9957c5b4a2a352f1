import { readdirSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { assertReadableFolder, assertWritableFolder, writeAtomic } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { type BackendChoice, type BackendName, useBackend } from '../../core/tensors/backend.ts';
import { createTerminalProgress, printError, printOut } from '../../core/terminal/progress.ts';
import { quoteShellWord } from '../../core/text/format.ts';
import { parse } from '../../core/validation/validation.ts';
import { merge, parseYaml } from '../../lab/composition/config-file.ts';
import { findFittedArm, listArmsToRun } from '../../lab/config/arm-selection.ts';
import { type ExperimentConfig, listConfigDatasets, loadConfigPlugins } from '../../lab/config/config.ts';
import type { Launcher } from '../../lab/launch/launcher.ts';
import { createLauncher, type LauncherOptions, launcherOptions } from '../../lab/launch/registry.ts';
import type { CpuProfile } from '../../lab/measure/profile.ts';
import type { ExperimentResult } from '../../lab/measure/result.ts';
import { withCountedLook } from '../../lab/measure/test-looks.ts';
import type { DatasetRun } from '../../lab/report/tables/datasets-table.ts';
import { describeIdleSteps, describeSlices } from '../../lab/report/tables/side-tables.ts';
import { renderText } from '../../lab/report/tables/text-table.ts';
import { measuringVersion } from '../../lab/run/environment.ts';
import { type Execute, FolderExecution } from '../../lab/run/execution.ts';
import type { Opening, RunFiles } from '../../lab/run/partial-folder.ts';
import { FINISHED, writeRunFolder } from '../../lab/run/run-folder.ts';
import { ReplayedSlices } from '../../lab/run/run-slices.ts';
import { findReachWarnings } from '../../lab/run/run-warnings.ts';
import { cacheSizeRemark } from '../../lab/stored/cache-contents.ts';
import { runOrFit } from '../../lab/workbench/finished-experiment.ts';
import { renderRunFiles } from '../../lab/workbench/run-files.ts';
import type { ConfigChanges, LauncherChoice } from '../options/options.ts';
import { FailedCheck, interruption, runHeedingTermination } from '../process/supervision.ts';
import { openChangedConfig, typedChanges } from './config.ts';

/** The config's launcher, or the chosen one with the options that the config has for it. @throws ConfigurationError with all faults at once. */
export function chosenLauncher(configured: LauncherOptions, { launcher, workers }: LauncherChoice): LauncherOptions {
  const typed = launcher?.trimStart().startsWith('{') ? parseYaml(launcher, '--launcher') : { name: launcher };
  const chosen = launcher === undefined ? {} : typed;
  const isOther = chosen.name !== undefined && chosen.name !== configured.name;
  const options = merge(
    merge(isOther ? {} : configured, chosen),
    workers === undefined ? {} : { workers: Number(workers) },
  );
  return parse(z.object({ launcher: launcherOptions }), { launcher: options }, 'the command line').launcher;
}

interface RunOptions extends ConfigChanges, LauncherChoice {
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

function chooseOpening({ resume, retryFailed }: RunOptions): Opening {
  if (retryFailed === true) return 'retry-failed';
  return resume === true ? 'resume' : 'fresh';
}

/** If arms run in other processes, this process waits for them and can end cleanly. */
async function openLauncher(options: LauncherOptions): Promise<Launcher> {
  const launcher = await createLauncher(options);
  if (options.name === 'local' && options.workers === 1) return launcher;
  return {
    name: launcher.name,
    countArmsAtOnce: (arms) => launcher.countArmsAtOnce(arms),
    launch: (job) => runHeedingTermination(() => launcher.launch(job)),
  };
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
function sealFiles(files: RunFiles, shown: string, { failures, fit }: ExperimentResult): RunFiles {
  if (failures.length > 0 || fit !== undefined) return files;
  const hashes = Object.fromEntries(Object.entries(files).map(([name, content]) => [name, computeHash(content)]));
  const finished = { started: performance.timeOrigin, code: measuringVersion(), shown, files: hashes };
  return { ...files, [FINISHED]: `${JSON.stringify(finished)}\n` };
}

/** Shows the finished run of a config in the place of the same run. @returns whether there is one. */
async function showFinished(config: ExperimentConfig, options: RunOptions, backend: BackendName): Promise<boolean> {
  const { results, cache: cacheFolder, resume, retryFailed, replaySlices, profile, again } = options;
  const isNew = !readdirSync(results).join('/').includes(`${config.name}-`);
  if (resume ?? retryFailed ?? replaySlices ?? profile ?? again ?? isNew) return false;
  const { findFinishedRun } = await import('../../lab/stored/finished-run.ts');
  const searched = { results, cacheFolder, backend, progress: createTerminalProgress() };
  const found = await findFinishedRun(config, searched);
  if (found === null) return false;
  printOut(`${found.shown}\nreport: ${join(found.folder, 'report.html')}\n`);
  const date = found.started.toISOString().slice(0, 19);
  printError(`shown from the run of ${date}Z: same config, data, backend and code; --again runs it again\n`);
  return true;
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

/** @throws FailedCheck if an arm failed; the others are in the report. */
function assertAllDone(results: readonly ExperimentResult[]): void {
  const failed = results.flatMap(({ failures }) => failures);
  if (failed.length === 0) return;
  for (const { name, failures } of results)
    for (const { name: arm, code, message } of failures)
      printError(`ragpp: ${results.length > 1 ? `${name}: ` : ''}arm ${arm} failed [${code}]: ${message}\n`);
  const all = results.reduce((sum, { arms, stopped }) => sum + arms.length + stopped.length, failed.length);
  printError(`ragpp: ${failed.length} of ${all} arms failed; --retry-failed runs them again\n`);
  throw new FailedCheck(`${failed.length} arms failed`);
}

/** Runs the experiment of a config: on its dataset, or on each of them, with a table over all. */
export async function run(path: string, options: RunOptions): Promise<void> {
  await loadConfigPlugins(path, options.set);
  const names = options.dataset === undefined ? listConfigDatasets(path, options.set) : null;
  if (names === null) return assertAllDone(await runOnDataset(path, options, showFinished));
  for (const dataset of names) await openChangedConfig(path, { ...options, dataset }); // all are checked before any is run
  const runs: DatasetRun[] = [];
  for (const dataset of names)
    for (const result of await runOnDataset(path, { ...options, dataset })) runs.push({ dataset, result });
  const target = join(options.results, datasetsFileName(runs));
  const { buildDatasetsTable, renderDatasetsCsv, renderDatasetsMarkdown, renderDatasetsText } = await import(
    '../../lab/report/tables/datasets-table.ts'
  );
  const table = buildDatasetsTable(runs);
  writeAtomic(`${target}.md`, renderDatasetsMarkdown(table));
  writeAtomic(`${target}.csv`, renderDatasetsCsv(table));
  printOut(`\n${renderDatasetsText(table)}\n\n${target}.md\n`);
  assertAllDone(runs.map(({ result }) => result));
}

/** `<experiment>-datasets-<hash>`: the experiment's name is what its runs' names begin with. */
function datasetsFileName(runs: readonly DatasetRun[]): string {
  const [{ dataset, result }] = runs as [DatasetRun];
  const name = result.name.slice(0, -(dataset.length + 1));
  return `${name}-datasets-${computeHash(runs.map((run) => run.result.hash)).slice(0, 12)}`;
}

/** @throws ValidationError for options of arms that run one by one. */
function assertFitOptions({ retryFailed, replaySlices, launcher, workers, race }: RunOptions): void {
  const given = Object.entries({ retryFailed, replaySlices, launcher, workers, race });
  const names = given.flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`],
  );
  if (names.length > 0)
    throw new ValidationError(`arm of the config is fitted, which takes no ${names.join(', ')}; leave it out`);
}

/**
 * @param isShown shows an earlier run of the config in the place of this one, if there is one.
 * @returns the result; empty if an earlier run was shown.
 */
async function runOnDataset(
  path: string,
  options: RunOptions,
  isShown?: typeof showFinished,
): Promise<ExperimentResult[]> {
  const config = await openChangedConfig(path, options);
  const isFit = findFittedArm(config) !== null;
  if (isFit) assertFitOptions(options);
  for (const { code, message } of findReachWarnings(listArmsToRun(config), config.evaluation))
    printError(`ragpp: warning (${code}): ${message}\n`);
  const where = chosenLauncher(config.launcher, options);
  const launcher = await openLauncher(where);
  const backend = await useBackend(options.backend ?? config.backend);
  const { results, cache: cacheFolder } = options;
  assertWritableFolder(results);
  assertReadableFolder(cacheFolder);
  if (await isShown?.(config, options, backend)) return [];
  const progress = createTerminalProgress();
  const profile = options.profile === true ? await startProfile() : null;
  const profiles = profile === null ? {} : { profiles: PROFILES };
  const place = { results, opening: chooseOpening(options), launcher, signal: interruption, ...profiles };
  const execution = new FolderExecution(place);
  const rounds: FolderExecution[] = [];
  const executeRound: Execute = (prepared) => {
    const round = new FolderExecution(place);
    rounds.push(round);
    return round.execute(prepared);
  };
  try {
    const replay = options.replaySlices === undefined ? {} : { replay: new ReplayedSlices(options.replaySlices) };
    const fitsInProcesses = where.name === 'local' && where.workers > 1;
    const command = formatRunCommand(path, options);
    const context = { backend, cacheFolder, command, progress, fitsInProcesses, ...replay };
    const ran = await runOrFit(config, context, (prepared) => execution.execute(prepared), executeRound);
    const finished = withCountedLook(ran, results);
    const report = progress('report', 1);
    const rendered = renderRunFiles(finished);
    const written = profile === null ? rendered : { ...rendered, ...(await finishProfile(profile, finished.result)) };
    const { name, hash } = finished.result;
    const shown = describe(finished.result);
    const files = sealFiles(written, shown, finished.result);
    const folder = isFit ? writeRunFolder(resolve(results, `${name}-${hash}`), files) : execution.finish(files);
    for (const round of rounds) round.discard();
    report.finish();
    printOut(`${shown}\nreport: ${join(results, basename(folder), 'report.html')}\n`);
    if (profile !== null) await showProfile(finished.result);
    const remark = cacheSizeRemark(cacheFolder);
    if (remark !== null) printOut(`${remark}\n`);
    return [finished.result];
  } finally {
    for (const one of [execution, ...rounds]) one.release();
  }
}
