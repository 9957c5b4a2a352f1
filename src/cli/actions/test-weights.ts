import { dirname, join, relative, resolve } from 'node:path';
import { ValidationError } from '../../core/errors/errors.ts';
import { readFolder, writeAtomic } from '../../core/files/files.ts';
import { type BackendChoice, useBackend } from '../../core/tensors/backend.ts';
import { createTerminalProgress } from '../../core/terminal/progress.ts';
import { printOut } from '../../core/terminal/terminal.ts';
import { quoteShellWord } from '../../core/text/shell-words.ts';
import { countLook } from '../../lab/looks/test-looks.ts';
import { renderTestMarkdown, renderTestText } from '../../lab/report/tables/test-table.ts';
import { describeCommit, restoreDataFolder } from '../../lab/run/environment.ts';
import {
  assertFirstLook,
  describeWeightsLook,
  listWeightsLooks,
  lookLines,
  TEST_FILE,
} from '../../lab/training/test-looks.ts';
import { runTest, testSplit } from '../../lab/training/test-run.ts';
import { openTrainingConfig } from '../../lab/training/training-config.ts';
import { readWeights, type Weights } from '../../rank/learning/weight-file.ts';

interface TestOptions {
  readonly again?: true;
  readonly backend?: BackendChoice;
  readonly cache: string;
}

function formatTestCommand(folder: string, { again, backend }: TestOptions): string {
  const words = ['ragpp', 'test-weights', relative(process.cwd(), folder), ...(again === true ? ['--again'] : [])];
  return [...words, ...(backend === undefined ? [] : ['--backend', backend])].map(quoteShellWord).join(' ');
}

/** @throws ValidationError for a folder without any. */
function readFolderWeights(folder: string): ReadonlyMap<string, Weights> {
  const files = readFolder(folder).filter((name) => /^weights-.*\.safetensors$/.test(name));
  if (files.length === 0)
    throw new ValidationError(`folder has no weights-<model>.safetensors: ${folder}; name the folder of a training`, {
      folder,
    });
  return new Map(files.map((name) => [name, readWeights(join(folder, name))]));
}

export async function testWeights(folder: string, options: TestOptions): Promise<void> {
  const config = await openTrainingConfig(join(folder, 'config.yaml'));
  restoreDataFolder(config.dataset, folder);
  const weights = readFolderWeights(folder);
  const context = { cacheFolder: options.cache, progress: createTerminalProgress() };
  const split = await testSplit(config, context);
  assertFirstLook(listWeightsLooks(folder, split), split, options.again === true);
  const backend = await useBackend(options.backend ?? config.backend);
  const result = await runTest(config, weights, context);
  const made = { commit: describeCommit(), backend, command: formatTestCommand(folder, options) };
  const look = countLook(dirname(resolve(folder)), describeWeightsLook(folder, split, made));
  const lines = lookLines(look, listWeightsLooks(folder, split));
  writeAtomic(join(folder, TEST_FILE), `${JSON.stringify({ look, ...made, ...result }, null, 2)}\n`);
  writeAtomic(join(folder, 'test.md'), renderTestMarkdown(result, config, lines, made));
  printOut(`\n${renderTestText(result, config, lines)}\n${join(folder, 'test.md')}\n`);
}
