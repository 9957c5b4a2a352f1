import { Command } from 'commander';
import { RESULTS } from '../lab/stored/finished-record.ts';
import type { RunOptions } from './actions/computed-run.ts';
import { cacheOption, createBackendOption, withConfigChanges, withLauncherChoice } from './options/options.ts';

/** @param words the command line. */
export function runCommand(words: readonly string[]): Command {
  return withLauncherChoice(withConfigChanges(new Command('run')))
    .description('run an experiment config: embed, find candidates, tune on dev, score, measure, report')
    .argument('<config>', 'a YAML file, such as configs/quickstart.yaml')
    .addOption(createBackendOption())
    .addOption(cacheOption())
    .option('--results <folder>', 'where the run folder is made', RESULTS)
    .option('--resume', 'go on with what an earlier run of the same config has left; its failed arms stay failed')
    .option('--replay-slices <run>', 'use the signed slices that a run has stored, and start no kernel')
    .option('--retry-failed', 'like --resume, and run the failed arms again')
    .option('--again', 'run a config again that has a finished run with the same hashes, which is shown otherwise')
    .option('--profile', 'write a CPU profile of each process and a table of stages: time, garbage, launches, bytes')
    .addHelpText(
      'after',
      `
Leaves <results>/<experiment>-<hash>/ with the resolved config, the environment, metrics.json, per-query.jsonl
and .parquet, TREC runs and qrels, table.md, .tex and .csv, and report.html, one file that works offline.
Until it is done the folder is named <experiment>-<hash>.partial; whatever ends the run, --resume goes on from
there. An arm that fails does so alone: the others are in the table, and the exit code is 1.

An arm whose mix has a fit is learned on dev and measured on held-out conversations; the folder has its weights,
weights.csv, curve.csv, importance.csv and controls.csv, and with mix.fit.select selection.csv. Every fold that is
done is kept in the cache, and the same command goes on behind it. ragpp test-weights measures the weights on the
test split.

Examples:
  ragpp run configs/quickstart.yaml --limit-queries 60
  ragpp run configs/quickstart.yaml --workers 4 --resume
  ragpp run configs/learning/mail.yaml --set arms.learned.set.mix.fit.epochs=5
  ragpp run configs/quickstart.yaml --set 'embedding={encoder: use-lite}' --set seed=7
  ragpp run configs/quickstart.yaml --launcher slurm --workers 16
  ragpp run configs/slices.yaml --replay-slices results/runs/slices-0123456789ab --results results/replayed`,
    )
    .action(async (path: string, options: RunOptions) => (await import('./actions/run.ts')).run(path, options, words));
}
