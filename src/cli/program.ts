import { Command, CommanderError } from 'commander';
import { projectVersion } from '../core/code/package-root.ts';
import { ConfigurationError, RagPlusPlusError } from '../core/errors/errors.ts';
import { closeProgress } from '../core/terminal/progress.ts';
import { printError, printOut } from '../core/terminal/terminal.ts';
import { createArmCommand } from './arm.ts';
import { askCommand } from './ask.ts';
import { cacheCommand } from './cache.ts';
import { compareCommand } from './compare.ts';
import { createConfigCommand } from './config.ts';
import { createDataCommand } from './data.ts';
import { createDoctorCommand } from './doctor.ts';
import { fuseCommand } from './fuse.ts';
import { graphCommand } from './graph.ts';
import { initCommand } from './init.ts';
import { judgeCommand } from './judge.ts';
import { kernelCommand } from './kernel.ts';
import { memoryCommand } from './memory.ts';
import { FailedCheck } from './process/failed-check.ts';
import { publishCommand } from './publish.ts';
import { rescoreCommand } from './rescore.ts';
import { createResultsCommand } from './results.ts';
import { runCommand } from './run.ts';
import { scoreCommand } from './score.ts';
import { tableCommand } from './table.ts';
import { testWeightsCommand } from './test-weights.ts';
import { trainCommand } from './train.ts';
import { verifyCommand } from './verify.ts';

const OVERVIEW = `
A memory is a turn in a tree, not a loose chunk. ragpp finds candidate turns, scores them with tensor
operations (cosine, time decay, trajectory distance, ring attention) and measures every choice with
intervals and corrected significance.

Examples:
  ragpp init my-experiment                               a config and made-up data to start from
  ragpp run configs/quickstart.yaml                      the ablation on real mail threads
  ragpp run my.yaml --set seed=7 --backend cpu           the same config, changed from outside
  ragpp train configs/learning/mail.yaml                 weights that are learned, on held-out threads
  ragpp config show configs/sweeps/rerank-weights.yaml   what would run, and what it would cost
  ragpp results --where 'arm~decay' --sort mrr@10         the arms of all runs so far
  ragpp verify                                           does this machine compute what it should?
  ragpp doctor                                           what is installed, what is missing

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 130 interrupted (143 by SIGTERM).`;

/** What commander writes holds words that were typed. */
const OUTPUT = { writeOut: printOut, writeErr: printError };

/** Commands, and those within them, throw instead of leaving the process, and say where their help is. */
function prepare(command: Command, typed: string): void {
  command.exitOverride().configureOutput(OUTPUT).showHelpAfterError(`(see ${typed} --help)`);
  for (const inner of command.commands) prepare(inner, `${typed} ${inner.name()}`);
}

export function buildProgram(): Command {
  const program = new Command('ragpp')
    .description('rag-plusplus: memory-conditioned retrieval over conversations, measured')
    .version(projectVersion())
    .addHelpText('after', OVERVIEW)
    .showHelpAfterError('(see ragpp --help)')
    .configureOutput(OUTPUT)
    .exitOverride();
  program.addCommand(initCommand());
  program.addCommand(runCommand());
  program.addCommand(askCommand());
  program.addCommand(trainCommand());
  program.addCommand(testWeightsCommand());
  program.addCommand(createConfigCommand());
  program.addCommand(createDataCommand());
  program.addCommand(createResultsCommand());
  program.addCommand(compareCommand());
  program.addCommand(rescoreCommand());
  program.addCommand(scoreCommand());
  program.addCommand(fuseCommand());
  program.addCommand(graphCommand());
  program.addCommand(judgeCommand());
  program.addCommand(kernelCommand());
  program.addCommand(tableCommand());
  program.addCommand(verifyCommand());
  program.addCommand(createDoctorCommand());
  program.addCommand(cacheCommand());
  program.addCommand(memoryCommand());
  program.addCommand(publishCommand());
  program.addCommand(createArmCommand(), { hidden: true });
  for (const command of program.commands) prepare(command, `ragpp ${command.name()}`);
  return program;
}

function chooseExitCode(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return error instanceof ConfigurationError ? 2 : 1;
}

/** What is left to say of an error: one line for ours (or a list of faults); anything else keeps its stack, since it is a bug. */
function describeFailure(error: unknown): string {
  if (error instanceof CommanderError || error instanceof FailedCheck) return ''; // have said it themselves
  if (error instanceof RagPlusPlusError) return `ragpp [${error.code}]: ${error.message}\n`;
  return `ragpp: unexpected error\n${error instanceof Error ? error.stack : error}\n`;
}

async function execute(argv: readonly string[]): Promise<void> {
  try {
    await buildProgram().parseAsync([...argv], { from: 'user' });
  } finally {
    closeProgress(); // an error is printed below the bars
  }
}

/** Runs the command line. @returns the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    await execute(argv);
    return 0;
  } catch (error) {
    printError(describeFailure(error));
    return chooseExitCode(error);
  }
}
