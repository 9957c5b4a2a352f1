import { ExternalProgramError, findErrorLine, runExternal } from '../../core/backends/external-program.ts';
import type { AddonName } from '../../core/backends/native-addon.ts';
import type { BackendName } from '../../core/tensors/active-backend.ts';
import { buildChildEnvironment, findOwnProgram } from '../../lab/launch/own-process.ts';
import { interruption } from './supervision.ts';

/** The report of a process that loaded a backend. */
interface Trial {
  readonly isUsable: boolean;
  /** The library and the device, or the reason why the backend cannot be used. */
  readonly remark: string;
}

/**
 * Runs `ragpp backend check` in another process.
 *
 * @param changes of its environment.
 * @returns what it printed.
 * @throws ExternalProgramError if the backend cannot be used.
 */
export async function checkElsewhere(
  name: BackendName | AddonName,
  words: readonly string[] = [],
  changes: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { nodeOptions, main } = findOwnProgram();
  const quiet = process.env.TF_CPP_MIN_LOG_LEVEL ?? '2';
  return runExternal(process.execPath, [...nodeOptions, main, 'backend', 'check', name, ...words], {
    folder: process.cwd(),
    environment: { ...buildChildEnvironment(), TF_CPP_MIN_LOG_LEVEL: quiet, ...changes },
    signal: interruption,
  });
}

/** The error that a process of ours reported, without what its reader knows. */
export function findReason({ output }: ExternalProgramError): string {
  const [, message] = /^ragpp \[\w+\]: (.*)$/m.exec(output) ?? [];
  return (message ?? findErrorLine(output))
    .replace(/^backend \w+ is not available: /, '')
    .replace(/; run ragpp doctor .*/, '');
}

/** Loads a backend in another process. */
export async function tryBackend(name: BackendName | AddonName): Promise<Trial> {
  try {
    const [line = ''] = (await checkElsewhere(name, ['--load'])).split('\n').filter((line) => line.startsWith(name));
    return { isUsable: true, remark: line.slice(name.length + 2) };
  } catch (error) {
    if (!(error instanceof ExternalProgramError) || interruption.aborted) throw error;
    return { isUsable: false, remark: findReason(error) };
  }
}
