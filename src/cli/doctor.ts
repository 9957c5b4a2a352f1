import { Command } from 'commander';
import { cacheOption, lazyAction } from './options/options.ts';

export function createDoctorCommand(): Command {
  return new Command('doctor')
    .description('list backends, native parts, data and folders, with what to do about what is missing')
    .addOption(cacheOption())
    .option('--results <folder>', 'the folder of runs to look at', 'results/runs')
    .addHelpText(
      'after',
      '\nState: ok, optional (not there, not needed), missing (needed). Exits with 1 when something needed is missing.',
    )
    .action(lazyAction(async () => (await import('./actions/doctor.ts')).run));
}
