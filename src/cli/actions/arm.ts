import { type BackendName, useBackend } from '../../core/tensors/backend.ts';
import type { ArmReply, ArmRequest } from '../../lab/launch/arm-process.ts';
import { isProfiled } from '../../lab/launch/own-process.ts';
import { type ArmRunner, joinRun, runArmTask } from '../../lab/run/arm-runner.ts';
import { FailedCheck } from '../process/supervision.ts';

/**
 * Answers the process that started this one, task after task, until that one lets go or is gone; then whatever runs
 * here ends where it stands.
 */
function serveArms(runner: ArmRunner, folder: string): void {
  const reply = (message: ArmReply) => void process.send?.(message);
  process.on('message', async (request: ArmRequest) => {
    if ('arm' in request) {
      await runArmTask(folder, runner, request.arm, (share) => reply({ share }));
      reply({ done: true });
    } else {
      const { doSharedWork } = await import('../../lab/run/shared-work.ts');
      reply({ done: true, stages: await doSharedWork(runner, request.shared) });
    }
  });
  process.once('disconnect', () => process.exit());
  reply({ ready: true });
}

interface ArmOptions {
  readonly arm?: string;
  readonly serve?: boolean;
  readonly backend: BackendName;
  readonly cache: string;
}

export async function runArmCommand(folder: string, { arm: name, serve, ...options }: ArmOptions): Promise<void> {
  if (isProfiled()) (await import('../../lab/measure/profile.ts')).watchGarbage();
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
