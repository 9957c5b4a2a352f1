import { CommanderError } from 'commander';
import { ConfigurationError, RagPlusPlusError } from '../src/core/errors/errors.ts';

/** Runs an experiment's command and sets the exit code: 0 done, 1 failed, 2 wrong usage or configuration. Errors that are not ours keep their stack. */
export async function runAsProgram(
  run: (args: readonly string[]) => Promise<void>,
  args: readonly string[],
): Promise<void> {
  try {
    await run(args);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2;
    } else if (error instanceof RagPlusPlusError) {
      process.stderr.write(`[${error.code}]: ${error.message}\n`);
      process.exitCode = error instanceof ConfigurationError ? 2 : 1;
    } else throw error;
  }
}
