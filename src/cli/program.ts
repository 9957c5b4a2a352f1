import { Command, CommanderError } from 'commander';
import { projectVersion } from '../core/code/package-root.ts';
import { ConfigurationError, RagPlusPlusError } from '../core/errors/errors.ts';
import { closeProgress, printError, printOut } from '../core/terminal/progress.ts';
import { findRepeatedRun } from '../lab/stored/finished-record.ts';
import { FailedCheck } from './process/supervision.ts';

const OVERVIEW = `
A memory is a turn in a tree, not a loose chunk. ragpp finds candidate turns, scores them with tensor
operations (cosine, time decay, trajectory distance, ring attention) and measures every choice with
intervals and corrected significance.

Examples:
  ragpp init my-experiment                               a config and made-up data to start from
  ragpp run configs/quickstart.yaml                      the ablation on real mail threads
  ragpp run my.yaml --set seed=7 --backend cpu           the same config, changed from outside
  ragpp run configs/learning/mail.yaml                   weights that are learned, on held-out threads
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

/** Every command, in the order of the help; its file is loaded on first use. To add one takes its file and a line here. */
const COMMANDS: Readonly<Record<string, (argv: readonly string[]) => Promise<Command>>> = {
  init: async () => (await import('./init.ts')).initCommand(),
  run: async (argv) => (await import('./run.ts')).runCommand(argv),
  ask: async () => (await import('./ask.ts')).askCommand(),
  'test-weights': async () => (await import('./test-weights.ts')).testWeightsCommand(),
  config: async () => (await import('./config.ts')).createConfigCommand(),
  data: async () => (await import('./data.ts')).createDataCommand(),
  results: async () => (await import('./results.ts')).createResultsCommand(),
  compare: async () => (await import('./compare.ts')).compareCommand(),
  rescore: async () => (await import('./rescore.ts')).rescoreCommand(),
  score: async () => (await import('./score.ts')).scoreCommand(),
  fuse: async () => (await import('./fuse.ts')).fuseCommand(),
  graph: async () => (await import('./graph.ts')).graphCommand(),
  judge: async () => (await import('./judge.ts')).judgeCommand(),
  work: async () => (await import('./queue-worker.ts')).queueWorkerCommand(),
  kernel: async () => (await import('./kernel.ts')).kernelCommand(),
  table: async () => (await import('./table.ts')).tableCommand(),
  verify: async () => (await import('./verify.ts')).verifyCommand(),
  doctor: async () => (await import('./doctor.ts')).createDoctorCommand(),
  backend: async () => (await import('./backend.ts')).backendCommand(),
  cache: async () => (await import('./cache.ts')).cacheCommand(),
  encoder: async () => (await import('./encoder.ts')).encoderCommand(),
  memory: async () => (await import('./memory.ts')).memoryCommand(),
  serve: async () => (await import('./serve.ts')).serveCommand(),
  publish: async () => (await import('./publish.ts')).publishCommand(),
  arm: async () => (await import('./arm.ts')).createArmCommand(),
};

/** The command that launchers start in other processes. */
const HIDDEN = 'arm';

/**
 * The program with all its commands.
 *
 * @param argv its words, where one command is to run: only the file of that command is loaded.
 */
export async function buildProgram(argv: readonly string[] = []): Promise<Command> {
  const program = new Command('ragpp')
    .description('rag-plusplus: memory-conditioned retrieval over conversations, measured')
    .version(projectVersion())
    .addHelpText('after', OVERVIEW)
    .showHelpAfterError('(see ragpp --help)')
    .configureOutput(OUTPUT)
    .exitOverride();
  const [first = ''] = argv;
  const wanted = Object.hasOwn(COMMANDS, first) ? [first] : Object.keys(COMMANDS);
  for (const name of wanted)
    program.addCommand(await (COMMANDS[name] as (typeof COMMANDS)[string])(argv), { hidden: name === HIDDEN });
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
    const found = argv[0] === 'run' ? await findRepeatedRun(argv) : null;
    if (found !== null) return (await import('./actions/shown-run.ts')).printFoundRun(found);
    const program = await buildProgram(argv);
    await program.parseAsync([...argv], { from: 'user' });
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
