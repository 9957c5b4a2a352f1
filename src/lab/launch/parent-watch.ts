import { Worker } from 'node:worker_threads';

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
export function buildChildEnvironment(): NodeJS.ProcessEnv {
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
