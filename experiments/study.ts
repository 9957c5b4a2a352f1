import { join } from 'node:path';
import { Command } from 'commander';
import { stringify } from 'yaml';
import type { z } from 'zod';
import { cacheOption, collect, createBackendOption } from '../src/cli/options/options.ts';
import { assertWritableFolder } from '../src/core/files/files.ts';
import { computeHash } from '../src/core/hash/hash.ts';
import { type BackendChoice, useBackend } from '../src/core/tensors/backend.ts';
import { createTerminalProgress, type StartProgress } from '../src/core/terminal/progress.ts';
import { quoteShellWord } from '../src/core/text/format.ts';
import { parse } from '../src/core/validation/validation.ts';
import { applyOverrides } from '../src/lab/composition/config-file.ts';
import type { TestSplit } from '../src/lab/measure/passport.ts';
import { type Environment, formatLook } from '../src/lab/measure/result.ts';
import { countLook } from '../src/lab/measure/test-looks.ts';
import { captureEnvironment } from '../src/lab/run/environment.ts';
import { type RunFiles, writeRunFolder } from '../src/lab/run/run-folder.ts';

export interface StudyContext {
  readonly cacheFolder: string;
  readonly progress: StartProgress;
}

/** The measurements of a study. */
export interface Findings {
  readonly dataset: { readonly name: string; readonly hash: string };
  /** The test splits that were measured, and null for none. */
  readonly tested?: readonly (TestSplit | null)[];
  /** Plain data, every figure that was measured. */
  readonly figures: object;
  /** Tables and sentences, Markdown each. */
  readonly sections: readonly string[];
  /** Further files by name, such as `table.csv`; a page and a weight file state where they come from. */
  readonly files?: RunFiles | ((provenance: string, environment: Environment) => RunFiles);
}

/** An experiment with tables of its own instead of arms. */
export interface Study<Schema extends z.ZodType<{ readonly seed: number }>> {
  readonly name: string;
  readonly description: string;
  /** Unknown keys are errors. */
  readonly settings: Schema;
  measure(settings: z.output<Schema>, context: StudyContext): Promise<Findings>;
}

interface Options {
  readonly backend: BackendChoice;
  readonly cache: string;
  readonly results: string;
  readonly set: readonly string[];
}

/** The sentences of the looks at test splits, which are counted in the list of the folder of runs. */
function countStudyLooks(results: string, run: string, environment: Environment, { tested = [] }: Findings): string[] {
  const { commit, backend, command } = environment;
  const splits = tested.filter((split) => split !== null);
  return splits.map((split) => formatLook(countLook(results, { ...split, run, commit, backend, command })));
}

/** The files of a study: those that `ragpp publish` copies. */
function buildStudyFiles(
  name: string,
  settings: { readonly seed: number },
  results: string,
  environment: Environment,
  findings: Findings,
): { readonly folder: string; readonly sections: readonly string[]; readonly files: RunFiles } {
  const { dataset, figures, files = {} } = findings;
  const { version, commit, machine, seed, backend, command } = environment;
  const hash = computeHash([name, settings, dataset.hash, backend]).slice(0, 12);
  const run = `${name}-${hash}`;
  const sections = [...findings.sections, ...countStudyLooks(results, run, environment, findings)];
  const provenance = `Experiment ${name} (${hash}) on ${dataset.name}; version ${version}, commit ${commit}, backend ${backend}, ${machine.cores} x ${machine.cpu}, seed ${seed}; ${command}`;
  return {
    folder: join(results, run),
    sections,
    files: {
      'config.yaml': stringify(settings),
      'environment.json': `${JSON.stringify(environment, null, 2)}\n`,
      'metrics.json': `${JSON.stringify({ experiment: name, hash, dataset, ...figures }, null, 2)}\n`,
      'table.md': `${[...sections, provenance].join('\n\n')}\n`,
      ...(typeof files === 'function' ? files(provenance, environment) : files),
    },
  };
}

/** The command of a study: `--set path=value` changes any of its settings. @throws ConfigurationError for settings that cannot be, before any work. */
export function createStudyCommand<Schema extends z.ZodType<{ readonly seed: number }>>(study: Study<Schema>) {
  return async (args: readonly string[]): Promise<void> => {
    const command = new Command(study.name)
      .description(study.description)
      .addOption(createBackendOption().default('auto'))
      .addOption(cacheOption())
      .option('--results <folder>', 'where the run folder is made', 'results/runs')
      .option('--set <path=value>', 'changes a setting; repeatable', collect, [])
      .exitOverride()
      .action(async ({ backend: choice, cache, results, set }: Options) => {
        const settings = parse(study.settings, applyOverrides({}, set), 'the settings');
        const backend = await useBackend(choice);
        for (const folder of [results, cache]) assertWritableFolder(folder);
        const findings = await study.measure(settings, { cacheFolder: cache, progress: createTerminalProgress() });
        const typed = `npm run experiment -- ${[study.name, ...args].map(quoteShellWord).join(' ')}`;
        const environment = captureEnvironment(backend, settings.seed, typed);
        const { folder, sections, files } = buildStudyFiles(study.name, settings, results, environment, findings);
        writeRunFolder(folder, files);
        process.stdout.write(`\n${sections.join('\n\n')}\n\nrun: ${folder}\n`);
      });
    await command.parseAsync([...args], { from: 'user' });
  };
}
