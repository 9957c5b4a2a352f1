import { join, relative } from 'node:path';
import { Command } from 'commander';
import { type BackendChoice, useBackend } from '../core/backend.ts';
import { ValidationError } from '../core/errors.ts';
import { readFolder, writeAtomic } from '../core/files.ts';
import { terminalProgress } from '../core/progress.ts';
import { quoted } from '../core/shell-words.ts';
import { printOut } from '../core/terminal.ts';
import { currentCommit, restoreDataFolder } from '../experiment/run/environment.ts';
import { readWeights, type Weights } from '../learning/weight-file.ts';
import { renderTestMarkdown, renderTestText } from '../report/tables/test-table.ts';
import { assertFirstLook, looksAt, nextLook, recordLooks } from '../training/test-looks.ts';
import { runTest, testSplit } from '../training/test-run.ts';
import { readTouches, TEST_FILE } from '../training/test-touches.ts';
import { loadTrainingConfig } from '../training/training-config.ts';
import { backendOption, cacheOption } from './options.ts';

interface TestOptions {
  readonly again?: true;
  readonly backend?: BackendChoice;
  readonly cache: string;
}

function commandLine(folder: string, { again, backend }: TestOptions): string {
  const words = ['ragpp', 'test-weights', relative(process.cwd(), folder), ...(again === true ? ['--again'] : [])];
  return [...words, ...(backend === undefined ? [] : ['--backend', backend])].map(quoted).join(' ');
}

/** @throws ValidationError for a folder without any. */
function weightsIn(folder: string): ReadonlyMap<string, Weights> {
  const files = readFolder(folder).filter((name) => /^weights-.*\.safetensors$/.test(name));
  if (files.length === 0) throw new ValidationError(`folder has no weights-<model>.safetensors: ${folder}`, { folder });
  return new Map(files.map((name) => [name, readWeights(join(folder, name))]));
}

async function testWeights(folder: string, options: TestOptions): Promise<void> {
  const path = join(folder, TEST_FILE);
  const config = loadTrainingConfig(join(folder, 'config.yaml'));
  restoreDataFolder(config.dataset, folder);
  const weights = weightsIn(folder);
  const context = { cacheFolder: options.cache, progress: terminalProgress() };
  const split = await testSplit(config, context);
  const earlier = looksAt(folder, split);
  assertFirstLook(earlier, split, options.again === true);
  const backend = await useBackend(options.backend ?? config.backend);
  const result = await runTest(config, weights, context);
  const touch = { commit: currentCommit(), backend, command: commandLine(folder, options) };
  const touches = [...readTouches(path), touch];
  const looks = [...earlier, nextLook(folder, split, touch)];
  recordLooks(folder, looks);
  writeAtomic(path, `${JSON.stringify({ touches, ...result }, null, 2)}\n`);
  writeAtomic(join(folder, 'test.md'), renderTestMarkdown(result, config, looks));
  printOut(`\n${renderTestText(result, config, looks)}\n${join(folder, 'test.md')}\n`);
}

export function testWeightsCommand(): Command {
  return new Command('test-weights')
    .description('measure the weights of a training on the test split, once, and record that it was looked at')
    .argument('<training-folder>', 'results/runs/<name>-<hash>, as ragpp train leaves it')
    .option('--again', 'look at a test split once more that these weights were measured on before')
    .addOption(backendOption())
    .addOption(cacheOption())
    .addHelpText(
      'after',
      `
Leaves test.json and test.md in the folder: hand-tuned, uniform and learned numbers of each model on the test
conversations, and every look at them with commit and command. Looks are counted by dataset and by what signals
may look at, over all trainings beside this one and all that were published (test-looks.json). A second look is
refused without --again, and the table lists all of them.

Example:
  ragpp test-weights results/runs/learning-mail-5a17c0de1234`,
    )
    .action(testWeights);
}
