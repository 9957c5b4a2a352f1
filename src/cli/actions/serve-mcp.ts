import { ConfigurationError, RagPlusPlusError, ValidationError } from '../../core/errors/errors.ts';
import { createTerminalProgress, printError } from '../../core/terminal/progress.ts';
import { serveMcpOverStdio } from '../../memory/service/mcp.ts';
import { openFolderArm } from './memory/folder-arm.ts';
import { readMemoryFolder } from './memory/memory-folder.ts';
import { openFolder, runWithOpened } from './memory/open-folder.ts';

interface ServeFlags {
  readonly mcp?: true;
  readonly cache: string;
}

function describe(error: unknown): string {
  return error instanceof RagPlusPlusError ? error.message : String(error instanceof Error ? error.stack : error);
}

/** Resolves with the end of the input, or when the process is asked to end. */
function awaitEnd(): Promise<void> {
  return new Promise((resolve) => {
    process.stdin.once('close', () => resolve());
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
}

/** Serves the tools of a memory until its input ends. */
export async function runServe(folder: string, { mcp, cache }: ServeFlags): Promise<void> {
  if (mcp !== true)
    throw new ConfigurationError('the command line', [{ path: '--mcp', expected: 'what to serve', got: 'nothing' }]);
  const { settings } = readMemoryFolder(folder);
  const arm = await openFolderArm(folder, cache, createTerminalProgress());
  if (arm === null)
    throw new ValidationError(`memory ${folder} has no arm to answer by; give it one with ragpp memory open`, {
      folder,
    });
  try {
    await runWithOpened(await openFolder(folder, settings, { arm }), async (memory) => {
      const ended = awaitEnd();
      const setting = { memory, clock: Date.now, cacheFolder: cache };
      const close = await serveMcpOverStdio(setting, (error) => printError(`mcp: ${describe(error)}\n`));
      await ended;
      await close();
    });
  } finally {
    await arm.dispose();
  }
}
