import { Command } from 'commander';
import { cacheOption, collect, createBackendOption, lazyAction } from './options/options.ts';

export function trainCommand(): Command {
  return new Command('train')
    .description('learn weights from a training config, measured on conversations that they have not seen')
    .argument('<config>', 'a YAML file, such as configs/learning/mail.yaml')
    .option('--set <path=value>', 'override one value of the config (repeatable)', collect, [])
    .addOption(createBackendOption())
    .addOption(cacheOption())
    .option('--results <folder>', "where the training's folder is made", 'results/runs')
    .addHelpText(
      'after',
      `
Leaves <results>/<name>-<hash>/ with the resolved config, the environment, metrics.json, table.md and .csv,
weights-<model>.safetensors, weights.csv, curve.csv, importance.csv, controls.csv, TREC runs and qrels, and
report.html, one file that works offline. The test split is not looked at: that is done once, by
ragpp test-weights.

It may be interrupted at any time: every fold that is done is kept in the cache, and the same command goes on
behind it.

Examples:
  ragpp train configs/learning/mail.yaml
  ragpp train configs/learning/mail.yaml --set limitQueries=200 --set fitting.epochs=5
  ragpp train configs/learning/locomo.yaml --set dataset.path=locomo10.json`,
    )
    .action(lazyAction(async () => (await import('./actions/train.ts')).train));
}
