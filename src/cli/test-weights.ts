import { Command } from 'commander';
import { cacheOption, createBackendOption, lazyAction } from './options/options.ts';

export function testWeightsCommand(): Command {
  return new Command('test-weights')
    .description('measure the weights of a fit on the test split, once, and record that it was looked at')
    .argument('<folder>', 'results/runs/<name>-<hash>, of a config whose arm is fitted: mix.fit')
    .option('--again', 'look at a test split once more that these weights were measured on before')
    .addOption(createBackendOption())
    .addOption(cacheOption())
    .addHelpText(
      'after',
      `
Leaves test.json and test.md in the folder: hand-tuned, uniform and learned numbers of the model on the test
conversations, and which look at them this is, of all runs beside this one and all that were published
(test-looks.json). A second look by weights with the same features is refused without --again, and the table lists
all of these.

Example:
  ragpp test-weights results/runs/learning-mail-5a17c0de1234`,
    )
    .action(lazyAction(async () => (await import('./actions/test-weights.ts')).testWeights));
}
