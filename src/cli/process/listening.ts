import { StorageError } from '../../core/errors/errors.ts';
import { writeAtomic } from '../../core/files/files.ts';
import type { HttpService } from '../../core/service/http-service.ts';
import { printOut } from '../../core/terminal/progress.ts';

/** The options of `addServiceOptions`. */
export interface ListenOptions {
  readonly host: string;
  readonly allowHost: readonly string[];
  readonly port: number;
  readonly maxBody: number;
  readonly requestSeconds: number;
  readonly readyFile?: string;
}

/** The bounds of requests, as a service takes them. */
export function readBounds({ maxBody, requestSeconds, allowHost }: ListenOptions) {
  return { maxBodyBytes: maxBody, requestSeconds, ...(allowHost.length > 0 && { hosts: allowHost }) };
}

/** Open requests may take this long after the service was asked to end. */
const CLOSE_SECONDS = 5;

/** Resolves when SIGTERM or SIGINT comes; a second one ends the process at once. */
export function awaitEnd(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
}

/** @returns the address. @throws StorageError if nothing can listen there. */
async function listen({ app }: HttpService, { host, port }: ListenOptions): Promise<string> {
  try {
    return await app.listen({ host, port, listenTextResolver: (address) => address });
  } catch (error) {
    throw new StorageError('listen', `${host}:${port}`, { cause: error, remedy: 'take another --port or --host' });
  }
}

/** Serves until the process is asked to end, then finishes the open requests. @param name as the printed line has it. */
export async function serveUntilEnd(service: HttpService, name: string, options: ListenOptions): Promise<void> {
  const ended = awaitEnd();
  const address = await listen(service, options);
  printOut(`${name} listens on ${address}\n`);
  if (options.readyFile !== undefined) writeAtomic(options.readyFile, `${address}\n`);
  await ended;
  await service.close(CLOSE_SECONDS);
}
