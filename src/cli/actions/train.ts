import { basename, join, relative } from 'node:path';
import { assertReadableFolder, assertWritableFolder } from '../../core/files/files.ts';
import { type BackendChoice, useBackend } from '../../core/tensors/backend.ts';
import { createTerminalProgress } from '../../core/terminal/progress.ts';
import { printOut } from '../../core/terminal/terminal.ts';
import { quoteShellWord } from '../../core/text/escapes.ts';
import { renderText } from '../../lab/report/tables/text-table.ts';
import { openTrainingConfig } from '../../lab/training/training-config.ts';
import { writeTrainingFolder } from '../../lab/training/training-folder.ts';
import { runTraining } from '../../lab/training/training-run.ts';
import { renderRunFiles } from '../../lab/workbench/run-files.ts';

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
  const folder = writeTrainingFolder(results, finished, renderRunFiles(finished));
  report.finish();
  printOut(`\n${renderText(finished.result)}\n`);
  printOut(`report: ${join(results, basename(folder), 'report.html')}\n`);
}
