import { Worker } from 'node:worker_threads';
import { findProgram, type Program } from '../../core/code/package-root.ts';

export type { Program };

/** Limits of V8's memory, which hold for every process that we start. */
const MEMORY_OPTION = /^--max[-_]/;

/** Has a process write where it spent its time. */
const PROFILE_OPTION = '--cpu-prof';

/** True if this process was started with a folder for its profile. */
export function isProfiled(): boolean {
  return process.execArgv.includes(PROFILE_OPTION);
}

/**
 * The arguments with which Node starts the command line in another process.
 *
 * @param profiles the folder where the process leaves its profile; by default it makes none.
 */
export function findOwnProgram(profiles: string | null = null): Program {
  const { nodeOptions, main } = findProgram('cli/work');
  const inherited = process.execArgv.filter((option) => MEMORY_OPTION.test(option));
  if (profiles !== null) inherited.push(PROFILE_OPTION, `--cpu-prof-dir=${profiles}`);
  return { nodeOptions: [...inherited, ...nodeOptions], main };
}

/** Names the process with which another one is to end. */
const VARIABLE = 'RAGPP_PARENT';

const POLL_MILLISECONDS = 200;

/** Runs in a thread of its own, since the event loop of a process that computes may stand still for minutes. A process whose parent is gone is given another one. */
const WATCH = `
  const { parent, poll } = require('node:worker_threads').workerData;
  const look = () => process.ppid === parent || process.kill(process.pid, 'SIGKILL');
  look();
  setInterval(look, poll);`;

/** The environment of a process that is to end with this one. */
export function buildChildEnvironment(): Readonly<Record<string, string | undefined>> {
  return { ...process.env, [VARIABLE]: String(process.pid) };
}

/** Kills this process as soon as the one that started it with {@link buildChildEnvironment} is gone, however that one ended and whatever is computed here. */
export function endWithParent(): void {
  const parent = process.env[VARIABLE];
  if (parent === undefined) return;
  delete process.env[VARIABLE]; // what is started here has another parent
  new Worker(WATCH, {
    eval: true,
    execArgv: [],
    workerData: { parent: Number(parent), poll: POLL_MILLISECONDS },
  }).unref();
}
