import { Command } from 'commander';
import { cacheOption, createBackendOption, lazyAction, withConfigChanges } from './options/options.ts';

function showCommand(): Command {
  return withConfigChanges(new Command('show'))
    .description(
      'print the config written out, its arms and what they differ in, and how many stages a run would execute',
    )
    .argument('<config>', 'a YAML file, such as configs/sweeps/rerank-weights.yaml')
    .addOption(createBackendOption())
    .addOption(cacheOption())
    .option('--json', 'all of it as JSON')
    .addHelpText(
      'after',
      `
What is printed is a config that runs as it stands; the rest are comments in it.

Examples:
  ragpp config show configs/sweeps/rerank-weights.yaml
  ragpp config show configs/quickstart.yaml --arm '+ RCP' --limit-queries 60
  ragpp config show configs/sweeps/random-search.yaml --set sweep.samples=8 --json`,
    )
    .action(lazyAction(async () => (await import('./actions/config.ts')).show));
}

function schemaCommand(): Command {
  return new Command('schema')
    .description('print the JSON Schema of a config file, by which an editor completes and checks it')
    .option('--out <file>', 'write the schema to a file instead of printing it')
    .addHelpText(
      'after',
      `
The first line of a config names the schema for the YAML extension of VS Code and for other editors with
yaml-language-server:
  # yaml-language-server: $schema=config.schema.json

The schema knows keys with their meanings, types, choices, defaults and bounds.
ragpp config show checks a config in full.

Examples:
  ragpp config schema --out config.schema.json`,
    )
    .action(lazyAction(async () => (await import('./actions/config.ts')).printSchema));
}

export function createConfigCommand(): Command {
  return new Command('config')
    .description('look at an experiment config without running it')
    .addCommand(showCommand())
    .addCommand(schemaCommand());
}
