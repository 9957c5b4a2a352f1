import type { ArmReply, ArmRequest } from '../launch/arm-process.ts';
import type { ArmRunner } from './arm-runner.ts';
import { runArmTask } from './arm-task.ts';

/** Answers the process that started this one, arm after arm, until that one lets go or is gone; then whatever runs here ends where it stands. */
export function serveArms(runner: ArmRunner, folder: string): void {
  const reply = (message: ArmReply) => void process.send?.(message);
  process.on('message', async ({ arm }: ArmRequest) => {
    await runArmTask(folder, runner, arm, (share) => reply({ share }));
    reply({ done: true });
  });
  process.once('disconnect', () => process.exit());
  reply({ ready: true });
}
