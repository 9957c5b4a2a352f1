import { ValidationError } from '../../core/errors/errors.ts';
import { type BackendName, useBackend } from '../../core/tensors/backend.ts';
import type { ArmReply, ArmRequest, OpenRequest } from '../../lab/launch/arm-process.ts';
import { isProfiled } from '../../lab/launch/own-process.ts';
import { type ArmRunner, joinRun, runArmTask } from '../../lab/run/arm-runner.ts';
import { recordVersion } from '../../lab/run/environment.ts';
import { FailedCheck } from '../process/supervision.ts';

type Messages = ArmRequest | OpenRequest;

/**
 * Answers the process that started this one: opens the run that it names and does task after task, until that one lets
 * go or is gone; then whatever runs here ends where it stands. What every run needs is loaded before one is named.
 */
async function serveArms(open: (folder: string) => Promise<ArmRunner>): Promise<void> {
  const reply = (message: ArmReply) => void process.send?.(message);
  const named = new Promise<string>((resolve) => {
    process.on('message', (request: Messages) => 'open' in request && resolve(request.open));
  });
  const begin = async () => {
    const { doSharedWork } = await import('../../lab/run/shared-work.ts');
    recordVersion();
    const folder = await named;
    return { doSharedWork, folder, runner: await open(folder) };
  };
  const begun = begin();
  const answer = async (request: ArmRequest) => {
    const { doSharedWork, folder, runner } = await begun;
    if ('arm' in request) {
      await runArmTask(folder, runner, request.arm, (share) => reply({ share }));
      reply({ done: true });
    } else reply({ done: true, stages: await doSharedWork(runner, request.shared) });
  };
  // A run that cannot be opened ends this process below.
  process.on(
    'message',
    (request: Messages) =>
      'open' in request ||
      begun.then(
        () => answer(request),
        () => {},
      ),
  );
  process.once('disconnect', () => process.exit());
  await begun;
  reply({ ready: true });
}

interface ArmOptions {
  readonly arm?: string;
  readonly serve?: boolean;
  readonly backend: BackendName;
  readonly cache: string;
}

export async function runArmCommand(
  folder: string | undefined,
  { arm: name, serve, ...options }: ArmOptions,
): Promise<void> {
  if (isProfiled()) (await import('../../lab/measure/profile.ts')).watchGarbage();
  const backend = await useBackend(options.backend);
  const open = (folder: string) => joinRun(folder, backend, options.cache);
  if (serve === true) return serveArms(open);
  if (folder === undefined) throw new ValidationError('arm has no run folder; give one, or --serve');
  const runner = await open(folder);
  try {
    if (name !== undefined && (await runArmTask(folder, runner, name)))
      throw new FailedCheck(`arm failed, see the folder of the run: ${name}`);
  } finally {
    await runner.dispose();
  }
}
