import { findProgram, type Program } from '../../core/code/package-root.ts';

export type { Program };

/** Limits of V8's memory, which hold for every process that we start. */
const MEMORY_OPTION = /^--max[-_]/;

/** The arguments with which Node starts the command line in another process. */
export function findOwnProgram(): Program {
  const { nodeOptions, main } = findProgram('cli/work');
  return { nodeOptions: [...process.execArgv.filter((option) => MEMORY_OPTION.test(option)), ...nodeOptions], main };
}
