import { join, relative } from 'node:path';
import { Command } from 'commander';
import { type BackendChoice, useBackend } from '../core/backend.ts';
import { assertWritableFolder } from '../core/files.ts';
import { terminalProgress } from '../core/progress.ts';
import { loadConfig } from '../experiment/config.ts';
import { runExperiment } from '../experiment/run.ts';
import { runFiles, writeRunFolder } from '../experiment/run-folder.ts';
import { renderHtml } from '../report/html.ts';
import { renderMarkdown } from '../report/markdown.ts';
import { renderText } from '../report/text-table.ts';
import { backendOption, cacheOption, collect } from './options.ts';

interface RunOptions {
  readonly set: string[];
  readonly backend?: BackendChoice;
  readonly cache: string;
  readonly results: string;
}

/** The command as somebody else would type it. */
function commandLine(config: string, { set, backend }: RunOptions): string {
  const words = ['ragpp run', relative(process.cwd(), config), ...set.map((override) => `--set '${override}'`)];
  return [...words, ...(backend === undefined ? [] : [`--backend ${backend}`])].join(' ');
}

async function run(path: string, options: RunOptions): Promise<void> {
  const config = loadConfig(path, options.set);
  const backend = await useBackend(options.backend ?? config.backend);
  for (const folder of [options.results, options.cache]) assertWritableFolder(folder);
  const progress = terminalProgress();
  const { result, runs, qrels } = await runExperiment(config, {
    backend,
    cacheFolder: options.cache,
    command: commandLine(path, options),
    progress,
  });
  const folder = join(options.results, `${result.name}-${result.hash}`);
  const report = progress('report', 1);
  writeRunFolder(folder, {
    ...runFiles(result, runs, qrels),
    'table.md': renderMarkdown(result),
    'report.html': renderHtml(result),
  });
  report.finish();
  process.stdout.write(`\n${renderText(result)}\n`);
  for (const remark of result.remarks) process.stdout.write(`${remark}\n`);
  process.stdout.write(`\nreport: ${join(folder, 'report.html')}\n`);
}

export function runCommand(): Command {
  return new Command('run')
    .description('run an experiment config: embed, find candidates, tune on dev, score, measure, report')
    .argument('<config>', 'a YAML file, such as configs/quickstart.yaml')
    .option(
      '--set <path=value>',
      'override one value of the config (repeatable); arms go by number or name',
      collect,
      [],
    )
    .addOption(backendOption())
    .addOption(cacheOption())
    .option('--results <folder>', 'where the run folder is made', 'results/runs')
    .addHelpText(
      'after',
      `
Leaves <results>/<experiment>-<hash>/ with the resolved config, the environment, metrics.json, per-query.jsonl,
TREC runs and qrels, table.md, and report.html, one file that works offline.

Examples:
  ragpp run configs/quickstart.yaml --set evaluation.limitQueries=60
  ragpp run configs/quickstart.yaml --set 'embedding={encoder: use-lite}' --set seed=7
  ragpp run configs/quickstart.yaml --set 'arms.cosine.candidates=[{index: flat, k: 50}]'`,
    )
    .action(run);
}
