import { basename, join, relative } from 'node:path';
import { assertReadableFolder, assertWritableFolder } from '../../core/files/files.ts';
import { type BackendChoice, useBackend } from '../../core/tensors/backend.ts';
import { createTerminalProgress } from '../../core/terminal/progress.ts';
import { printOut } from '../../core/terminal/terminal.ts';
import { quoteShellWord } from '../../core/text/shell-words.ts';
import {
  renderControlsCsv,
  renderCurveCsv,
  renderImportanceCsv,
  renderTrainingCsv,
  renderWeightsCsv,
} from '../../lab/report/training/training-csv.ts';
import { renderTrainingHtml } from '../../lab/report/training/training-page.ts';
import { renderTrainingMarkdown, renderTrainingText } from '../../lab/report/training/training-table.ts';
import { openTrainingConfig } from '../../lab/training/training-config.ts';
import { writeTrainingFolder } from '../../lab/training/training-folder.ts';
import type { TrainingResult } from '../../lab/training/training-result.ts';
import { runTraining } from '../../lab/training/training-run.ts';

interface TrainOptions {
  readonly set: readonly string[];
  readonly backend?: BackendChoice;
  readonly cache: string;
  readonly results: string;
}

/** The command as somebody else would type it: what changes the result, without where it was run. */
function formatTrainCommand(config: string, { set, backend }: TrainOptions): string {
  const changes = set.flatMap((override) => ['--set', override]);
  const words = ['ragpp', 'train', relative(process.cwd(), config), ...changes];
  return [...words, ...(backend === undefined ? [] : ['--backend', backend])].map(quoteShellWord).join(' ');
}

function renderTrainingFiles(result: TrainingResult) {
  return {
    'table.md': renderTrainingMarkdown(result),
    'table.csv': renderTrainingCsv(result),
    'weights.csv': renderWeightsCsv(result),
    'curve.csv': renderCurveCsv(result),
    'importance.csv': renderImportanceCsv(result),
    'controls.csv': renderControlsCsv(result),
    'report.html': renderTrainingHtml(result),
  };
}

export async function train(path: string, options: TrainOptions): Promise<void> {
  const config = await openTrainingConfig(path, options.set);
  const backend = await useBackend(options.backend ?? config.backend);
  const { results, cache: cacheFolder } = options;
  assertWritableFolder(results);
  assertReadableFolder(cacheFolder);
  const progress = createTerminalProgress();
  const finished = await runTraining(config, {
    backend,
    cacheFolder,
    command: formatTrainCommand(path, options),
    progress,
  });
  const report = progress('report', 1);
  const folder = writeTrainingFolder(results, finished, renderTrainingFiles(finished.result));
  report.finish();
  printOut(`\n${renderTrainingText(finished.result)}\n`);
  printOut(`report: ${join(results, basename(folder), 'report.html')}\n`);
}
