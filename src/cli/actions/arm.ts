import { ValidationError } from '../../core/errors/errors.ts';
import { type BackendName, useBackend } from '../../core/tensors/backend.ts';
import type { ArmReply, ArmRequest, OpenFolder, OpenRequest } from '../../lab/launch/arm-process.ts';
import type { RunData } from '../../lab/launch/launcher.ts';
import { isProfiled } from '../../lab/launch/own-process.ts';
import { assertBegun, joinRun, openRunData, runArmTask } from '../../lab/run/arm-runner.ts';
import { recordVersion } from '../../lab/run/environment.ts';
import { FailedCheck } from '../process/supervision.ts';

type Messages = ArmRequest | OpenRequest;

/** A promise with what resolves it. */
function createDeferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/**
 * Answers the process that started this one: opens the run that it names and does task after task, until that one lets
 * go or is gone; then whatever runs here ends where it stands. What every run needs is loaded before one is named.
 */
async function serveArms(backend: BackendName, cacheFolder: string): Promise<void> {
  const reply = (message: ArmReply) => void process.send?.(message);
  const named = createDeferred<OpenFolder>();
  const data = createDeferred<RunData | null>();
  const load = async () => {
    const work = await import('../../lab/run/shared-work.ts');
    recordVersion();
    reply({ loaded: true });
    return work;
  };
  const joinNamed = async ({ open: folder, queue }: OpenFolder) => {
    const blobs = queue && (await (await import('../../lab/launch/queue-tables.ts')).openQueueBlobs(queue));
    return joinRun(folder, backend, cacheFolder, blobs);
  };
  const open = async () => {
    const work = await loaded;
    const early = await data.promise;
    const runner = await (early ? openRunData(early, cacheFolder) : joinNamed(await named.promise));
    reply({ ready: true });
    return { ...work, runner };
  };
  const join = async () => {
    const { runner } = await opened;
    const { open: folder } = await named.promise;
    assertBegun(folder, runner, backend);
    return { folder, runner };
  };
  const loaded = load();
  const opened = open();
  const joined = join();
  const answer = async (request: ArmRequest) => {
    if ('arm' in request) {
      const { folder, runner } = await joined;
      await runArmTask(folder, runner, request.arm, (share) => reply({ share }));
      reply({ done: true });
    } else {
      const { doSharedWork, runner } = await opened;
      reply({ done: true, stages: await doSharedWork(runner, request.shared) });
    }
  };
  process.on('message', (request: Messages) => {
    if ('data' in request) data.resolve(request.data);
    else if ('open' in request) {
      data.resolve(null); // unless it came before
      named.resolve(request);
    } else answer(request).catch(() => {}); // of a run that cannot be opened, which ends this process below
  });
  process.once('disconnect', () => process.exit());
  try {
    await joined;
  } catch (error) {
    process.channel?.unref(); // or this process would wait for requests
    throw error;
  }
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
  if (serve === true) return serveArms(backend, options.cache);
  if (folder === undefined) throw new ValidationError('arm has no run folder; give one, or --serve');
  const runner = await joinRun(folder, backend, options.cache);
  try {
    if (name !== undefined && (await runArmTask(folder, runner, name)))
      throw new FailedCheck(`arm failed, see the folder of the run: ${name}`);
  } finally {
    await runner.dispose();
  }
}
