import { Command } from 'commander';
import { cacheOption, createBackendOption, lazyAction } from './options/options.ts';

/** The command that launchers start in other processes; help does not list it. */
export function createArmCommand(): Command {
  return new Command('arm')
    .description('run one arm of a run that was begun')
    .argument('[run-folder]', 'the .partial folder of the run; of a process that serves, its parent names it')
    .option('--arm <name>', 'the arm')
    .option('--serve', 'run the arms that the parent process asks for, of the run that it names')
    .addOption(createBackendOption().makeOptionMandatory())
    .addOption(cacheOption())
    .action(lazyAction(async () => (await import('./actions/arm.ts')).runArmCommand));
}
