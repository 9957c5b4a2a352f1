import { Command } from 'commander';
import { type BackendName, useBackend } from '../core/backend.ts';
import { serveArms } from '../experiment/launch/arm-service.ts';
import { joinRun, runArmTask } from '../experiment/launch/arm-task.ts';
import { FailedCheck } from './failed-check.ts';
import { backendOption, cacheOption } from './options.ts';

interface ArmOptions {
  readonly arm?: string;
  readonly serve?: boolean;
  readonly backend: BackendName;
  readonly cache: string;
}

async function arm(folder: string, { arm: name, serve, ...options }: ArmOptions): Promise<void> {
  const backend = await useBackend(options.backend);
  const runner = await joinRun(folder, backend, options.cache);
  if (serve === true) {
    serveArms(runner, folder);
    return;
  }
  try {
    if (name !== undefined && (await runArmTask(folder, runner, name)))
      throw new FailedCheck(`arm failed, see the folder of the run: ${name}`);
  } finally {
    await runner.dispose();
  }
}

/** What launchers start on other processors; not for people, so it is not in the help. */
export function armCommand(): Command {
  return new Command('arm')
    .description('run one arm of a run that was begun')
    .argument('<run-folder>', 'the .partial folder of the run')
    .option('--arm <name>', 'the arm')
    .option('--serve', 'run the arms that the parent process asks for')
    .addOption(backendOption().makeOptionMandatory())
    .addOption(cacheOption())
    .action(arm);
}
