import { ConfigurationError, RagPlusPlusError, StorageError, ValidationError } from '../../core/errors/errors.ts';
import { writeAtomic } from '../../core/files/files.ts';
import { isLoopback } from '../../core/service/http-service.ts';
import { createTerminalProgress, printError, printOut } from '../../core/terminal/progress.ts';
import { createMcpEndpoint, serveMcpOverStdio } from '../../memory/service/mcp.ts';
import { createMemoryService } from '../../memory/service/memory-service.ts';
import type { ToolSetting } from '../../memory/service/tools.ts';
import { openFolderArm } from './memory/folder-arm.ts';
import { readMemoryFolder } from './memory/memory-folder.ts';
import { openFolder, runWithOpened } from './memory/open-folder.ts';

interface ServeFlags {
  readonly config?: string;
  readonly arm?: string;
  readonly set: readonly string[];
  readonly mcp?: 'stdio' | 'http';
  readonly host: string;
  readonly port: number;
  readonly allowHost: readonly string[];
  readonly tokenVariable?: string;
  readonly readyFile?: string;
  readonly cache: string;
}

/** Open requests may take this long after the service was asked to end. */
const CLOSE_SECONDS = 5;

function describe(error: unknown): string {
  return error instanceof RagPlusPlusError ? error.message : String(error instanceof Error ? error.stack : error);
}

const report = (error: unknown) => printError(`memory: ${describe(error)}\n`);

/** Resolves when SIGTERM or SIGINT comes; a second one ends the process at once. */
function awaitSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
}

const createUsageError = (path: string, expected: string, got: string) =>
  new ConfigurationError('the command line', [{ path, expected, got }]);

/** The token of a variable. @throws ConfigurationError for one that is empty, and for none where others could ask. */
function readToken({ host, tokenVariable }: ServeFlags): string | null {
  if (tokenVariable === undefined) {
    if (host === 'localhost' || isLoopback(host)) return null;
    throw createUsageError('--token-variable', `a variable with a token, since ${host} is not this machine`, 'nothing');
  }
  const token = process.env[tokenVariable] ?? '';
  if (token.trim() === '') throw createUsageError('--token-variable', `a token in ${tokenVariable}`, 'nothing');
  return token;
}

/** Gives the folder the arm of a config, if one is named. */
async function openArm(folder: string, { config, arm, set, mcp, cache }: ServeFlags): Promise<void> {
  if (config === undefined && arm === undefined) return;
  if (config === undefined) throw createUsageError('--config', 'the config of --arm', 'nothing');
  if (arm === undefined) throw createUsageError('--arm', 'an arm of --config', 'nothing');
  if (mcp === 'stdio')
    throw createUsageError(
      '--config',
      'none beside --mcp stdio, whose output is for a client; run ragpp memory open',
      config,
    );
  const { runMemoryOpen } = await import('./memory-open.ts');
  await runMemoryOpen(folder, { config, arm, set, cache });
}

async function serveOverStdio(setting: ToolSetting): Promise<void> {
  const ended = Promise.race([awaitSignal(), new Promise((resolve) => process.stdin.once('close', resolve))]);
  const close = await serveMcpOverStdio(setting, report);
  await ended;
  await close();
}

async function serveOverHttp(setting: ToolSetting, flags: ServeFlags, token: string | null): Promise<void> {
  const { host, port, allowHost, readyFile } = flags;
  const mcp = flags.mcp === 'http' ? await createMcpEndpoint(setting, report) : null;
  const hosts = allowHost.length > 0 ? { hosts: allowHost } : {};
  const service = createMemoryService(setting, { ...hosts, token, mcp, onError: report });
  const ended = awaitSignal();
  const listening = service.app.listen({ host, port, listenTextResolver: (address: string) => address });
  const address = await listening.catch((cause: unknown) => {
    throw new StorageError('listen', `${host}:${port}`, { cause, remedy: 'take another --port or --host' });
  });
  printOut(`memory listens on ${address}\n`);
  if (readyFile !== undefined) writeAtomic(readyFile, `${address}\n`);
  await ended;
  await service.close(CLOSE_SECONDS);
  await mcp?.close();
}

/** Serves a memory until it is asked to end. */
export async function runServe(folder: string, flags: ServeFlags): Promise<void> {
  const token = flags.mcp === 'stdio' ? null : readToken(flags);
  await openArm(folder, flags);
  const { settings } = readMemoryFolder(folder);
  const arm = await openFolderArm(folder, flags.cache, createTerminalProgress());
  if (arm === null)
    throw new ValidationError(`memory ${folder} has no arm to answer by; give it one with --config and --arm`, {
      folder,
    });
  try {
    await runWithOpened(await openFolder(folder, settings, { arm }), (memory) => {
      const setting = { memory, clock: Date.now, cacheFolder: flags.cache };
      return flags.mcp === 'stdio' ? serveOverStdio(setting) : serveOverHttp(setting, flags, token);
    });
  } finally {
    await arm.dispose();
  }
}
