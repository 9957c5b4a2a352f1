import { ConfigurationError, RagPlusPlusError, ValidationError } from '../../core/errors/errors.ts';
import { isLoopback } from '../../core/service/http-service.ts';
import { createTerminalProgress, printError } from '../../core/terminal/progress.ts';
import { createMcpEndpoint, serveMcpOverStdio } from '../../memory/service/mcp.ts';
import { createMemoryService } from '../../memory/service/memory-service.ts';
import type { ToolSetting } from '../../memory/service/tools.ts';
import { awaitEnd, type ListenOptions, readBounds, serveUntilEnd } from '../process/listening.ts';
import { openFolderArm } from './memory/folder-arm.ts';
import { readMemoryFolder } from './memory/memory-folder.ts';
import { openFolder, runWithOpened } from './memory/open-folder.ts';

interface ServeFlags extends ListenOptions {
  readonly config?: string;
  readonly arm?: string;
  readonly set: readonly string[];
  readonly mcp?: 'stdio' | 'http';
  readonly tokenVariable?: string;
  readonly cache: string;
}

function describe(error: unknown): string {
  return error instanceof RagPlusPlusError ? error.message : String(error instanceof Error ? error.stack : error);
}

const report = (error: unknown) => printError(`memory: ${describe(error)}\n`);

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
  const ended = Promise.race([awaitEnd(), new Promise((resolve) => process.stdin.once('close', resolve))]);
  const close = await serveMcpOverStdio(setting, report);
  await ended;
  await close();
}

async function serveOverHttp(setting: ToolSetting, flags: ServeFlags, token: string | null): Promise<void> {
  const mcp = flags.mcp === 'http' ? await createMcpEndpoint(setting, report) : null;
  const service = createMemoryService(setting, { ...readBounds(flags), token, mcp, onError: report });
  await serveUntilEnd(service, 'memory', flags);
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
