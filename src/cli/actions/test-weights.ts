import { dirname, join, relative, resolve } from 'node:path';
import { ValidationError } from '../../core/errors/errors.ts';
import { readFolder, writeAtomic } from '../../core/files/files.ts';
import { type BackendChoice, useBackend } from '../../core/tensors/backend.ts';
import { createTerminalProgress, printOut } from '../../core/terminal/progress.ts';
import { quoteShellWord } from '../../core/text/format.ts';
import { findFittedArm } from '../../lab/config/arm-selection.ts';
import { openConfig } from '../../lab/config/config.ts';
import { countLook, TEST_FILE } from '../../lab/measure/test-looks.ts';
import { renderMarkdown } from '../../lab/report/tables/markdown.ts';
import { escapeMarkdown } from '../../lab/report/tables/pipe-table.ts';
import { renderText } from '../../lab/report/tables/text-table.ts';
import { restoreDataFolder } from '../../lab/run/environment.ts';
import { summariseResult, summariseStrata } from '../../lab/run/run-folder.ts';
import {
  assertFirstLook,
  describeWeightsLook,
  listWeightsLooks,
  lookLines,
  runTest,
  testSplit,
} from '../../lab/training/test-run.ts';
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

/** The weights of a training and their file. @throws ValidationError for a folder without any. */
function readFolderWeights(folder: string): { readonly file: string; readonly weights: Weights } {
  const file = readFolder(folder).find((name) => /^weights-.*\.safetensors$/.test(name));
  if (file === undefined)
    throw new ValidationError(`folder has no weights-<model>.safetensors: ${folder}; name the folder of a training`, {
      folder,
    });
  return { file, weights: readWeights(join(folder, file)) };
}

export async function testWeights(folder: string, options: TestOptions): Promise<void> {
  const config = await openConfig(join(folder, 'config.yaml'));
  if (findFittedArm(config) === null)
    throw new ValidationError(`run fits no arm: ${folder}; name the folder of a run whose config has mix.fit`, {
      folder,
    });
  restoreDataFolder(config.dataset, folder);
  const { file, weights } = readFolderWeights(folder);
  const context = { cacheFolder: options.cache, progress: createTerminalProgress() };
  const split = await testSplit(config, context);
  assertFirstLook(listWeightsLooks(folder, split), split, options.again === true);
  const backend = await useBackend(options.backend ?? config.backend);
  const command = formatTestCommand(folder, options);
  const result = await runTest(config, file, weights, { ...context, backend, command });
  const made = { commit: result.environment.commit, backend, command };
  const look = countLook(dirname(resolve(folder)), describeWeightsLook(folder, split, made));
  const lines = lookLines(look, listWeightsLooks(folder, split));
  writeAtomic(
    join(folder, TEST_FILE),
    `${JSON.stringify({ ...made, ...summariseResult({ ...result, look }), strata: summariseStrata(result) }, null, 2)}\n`,
  );
  writeAtomic(join(folder, 'test.md'), `${lines.map(escapeMarkdown).join('\n')}\n\n${renderMarkdown(result)}`);
  printOut(`\n${renderText(result)}\n${lines.join('\n')}\n\n${join(folder, 'test.md')}\n`);
}
