import { type BackendName, useBackend } from '../../core/tensors/backend.ts';
import { serveArms } from '../../lab/run/arm-service.ts';
import { joinRun, runArmTask } from '../../lab/run/arm-task.ts';
import { FailedCheck } from '../process/failed-check.ts';

interface ArmOptions {
  readonly arm?: string;
  readonly serve?: boolean;
  readonly backend: BackendName;
  readonly cache: string;
}

export async function runArmCommand(folder: string, { arm: name, serve, ...options }: ArmOptions): Promise<void> {
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
