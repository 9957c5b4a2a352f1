import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ValidationError } from '../../core/errors/errors.ts';
import { assertReadableFolder, assertWritableFolder, locatedPaths, writeAtomic } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { type BackendName, foreseeBackend, useBackend } from '../../core/tensors/backend.ts';
import { createTerminalProgress, printError, printOut } from '../../core/terminal/progress.ts';
import { listDataPlaces } from '../../data/prepared/prepared.ts';
import { findFittedArm, listArmsToRun } from '../../lab/config/arm-selection.ts';
import { type ExperimentConfig, listConfigDatasets, loadConfigPlugins } from '../../lab/config/config.ts';
import type { ExperimentResult } from '../../lab/measure/result.ts';
import type { DatasetRun } from '../../lab/report/tables/datasets-table.ts';
import { findReachWarnings } from '../../lab/run/run-warnings.ts';
import { describeCommand, describeInputs, type Inputs, isHashed } from '../../lab/stored/finished-record.ts';
import { FailedCheck } from '../process/supervision.ts';
import { chosenLauncher, openChangedConfig } from './changed-config.ts';
import type { RunOptions } from './computed-run.ts';

/** Shows the finished run of a config in the place of the same run. @returns whether there is one. */
async function showFinished(config: ExperimentConfig, options: RunOptions, backend: BackendName): Promise<boolean> {
  const { results, cache: cacheFolder } = options;
  if (!readdirSync(results).join('/').includes(`${config.name}-`)) return false;
  const { findFinishedRun } = await import('../../lab/stored/finished-run.ts');
  const searched = { results, cacheFolder, backend, progress: createTerminalProgress() };
  const found = await findFinishedRun(config, searched);
  if (found === null) return false;
  (await import('./shown-run.ts')).printFoundRun(found);
  return true;
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

/**
 * Runs the experiment of a config: on its dataset, or on each of them, with a table over all.
 *
 * @param words the command line.
 */
export async function run(path: string, options: RunOptions, words: readonly string[]): Promise<void> {
  const composed = await loadConfigPlugins(path, options.set);
  const { resume, retryFailed, replaySlices, profile, again } = options;
  const isComputed = resume ?? retryFailed ?? replaySlices ?? profile ?? again;
  const typed = isComputed ? undefined : { words, inputs: describeInputs(composed.files) }; // before the run reads them
  const names = options.dataset === undefined ? listConfigDatasets(composed) : null;
  if (names === null) return assertAllDone(await runOnDataset(path, options, typed));
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

/** A command, and the files of its config. */
interface Typed {
  readonly words: readonly string[];
  readonly inputs: Inputs | null;
}

/**
 * @param typed an earlier run of this command is shown in the place of this one, if there is one.
 * @returns the result; empty if an earlier run was shown.
 */
async function runOnDataset(path: string, options: RunOptions, typed?: Typed): Promise<ExperimentResult[]> {
  const located = locatedPaths;
  const config = await openChangedConfig(path, options);
  const namesFiles = locatedPaths > located || config.plugins !== undefined;
  if (findFittedArm(config) !== null) assertFitOptions(options);
  const warnings = findReachWarnings(listArmsToRun(config), config.evaluation);
  for (const { code, message } of warnings) printError(`ragpp: warning (${code}): ${message}\n`);
  const where = chosenLauncher(config.launcher, options);
  const choice = options.backend ?? config.backend;
  const foreseen = foreseeBackend(choice);
  const backend = foreseen ?? (await useBackend(choice));
  assertWritableFolder(options.results);
  assertReadableFolder(options.cache);
  if (typed !== undefined && (await showFinished(config, options, backend))) return [];
  const isKnown = typed?.inputs && foreseen !== null && !namesFiles && warnings.length === 0 && isHashed(config);
  const data = isKnown ? describeInputs(listDataPlaces(config.dataset)) : null;
  const inputs = { ...typed?.inputs, ...data };
  const repetition = typed && data ? { command: describeCommand(typed.words), choice, backend, inputs } : null;
  // The code that computes is loaded where no run is shown.
  const { computeRun } = await import('./computed-run.ts');
  return [await computeRun(config, path, where, options, repetition)];
}
