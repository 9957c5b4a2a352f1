import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { findBuiltUrl } from '../../core/built-module.harness.ts';
import { buildSampleConfig, writeSampleJsonl } from '../../lab/run/jsonl.fixture.ts';
import { runRagpp } from '../command.harness.ts';
import { awaitFound, findWorkProcess, startRagpp } from '../process.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-interruption-'));
afterAll(() => rmSync(root, { recursive: true }));

/** A program with an open stage on what passes for a terminal, which listens to the interruption and ends by itself once it heeds SIGTERM no more. */
const LISTENING = `
  import { endOnInterrupt, runHeedingTermination, interruption } from ${JSON.stringify(findBuiltUrl('cli/process/supervision'))};
  import { createTerminalProgress } from ${JSON.stringify(findBuiltUrl('core/terminal/progress'))};
  const say = (what) => process.stdout.write(what + '\\n');
  interruption.addEventListener('abort', () => say('released'));
  endOnInterrupt();
  process.stderr.isTTY = true;
  const turns = () => {
    createTerminalProgress()('arms', 7).update(2);
    return new Promise((resolve) => setTimeout(resolve, process.argv[1] === 'awaiting' ? 20_000 : 0));
  };
  await runHeedingTermination(turns);
  setTimeout(() => say('not ended'), 20_000);
  say('computing');`;

/** Runs the program, and sends it a signal once its bar is drawn and, unless it is to await, nothing is awaited any more. */
async function interruptRun(signal: NodeJS.Signals, state: 'awaiting' | 'computing') {
  const options = ['--input-type=module', '--eval', LISTENING, state];
  const child = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'pipe'] });
  const written = Promise.all([text(child.stdout), text(child.stderr)]);
  const ended = new Promise((resolve) => child.once('close', (...end) => resolve(end)));
  (state === 'awaiting' ? child.stderr : child.stdout).once('data', () => child.kill(signal));
  const [stdout, stderr] = await written;
  return { ended: await ended, stdout, stderr };
}

test.concurrent.each([
  ['SIGINT', 'awaiting', 130],
  ['SIGINT', 'computing', 130],
  ['SIGTERM', 'awaiting', 143],
] as const)(
  '%s ends a program that is %s in order, with exit code %i and the cursor back',
  async (signal, state, code) => {
    const { ended, stdout, stderr } = await interruptRun(signal, state);
    expect(ended).toEqual([code, null]);
    expect(stdout).toBe(state === 'awaiting' ? 'released\n' : 'computing\nreleased\n');
    expect(stderr.split('\x1b[?25l')[1]).toContain('\x1b[?25h');
  },
);

test.concurrent('SIGTERM has its usual effect while nothing is awaited', async () => {
  const { ended, stdout } = await interruptRun('SIGTERM', 'computing');
  expect(ended).toEqual([null, 'SIGTERM']);
  expect(stdout).toBe('computing\n');
});

writeSampleJsonl(root);
const config = join(root, 'sample.yaml');
writeFileSync(config, JSON.stringify(buildSampleConfig(root)));

const listInterruptedArgs = (name: string) => [
  'run',
  config,
  '--cache',
  join(root, `${name}-cache`),
  '--results',
  join(root, name),
];

/** Starts a run. @returns it and its lock, once that is there. */
async function startSampleRun(name: string) {
  const results = join(root, name);
  const run = startRagpp(listInterruptedArgs(name));
  const lock = await awaitFound(() => {
    const [folder = ''] = existsSync(results) ? readdirSync(results) : [];
    const path = join(results, folder, 'lock');
    return existsSync(path) ? path : undefined;
  });
  return { run, lock };
}

// The signal goes to the work itself: what is busy for longer than the grace period of `supervise` is killed, which a machine under load can cause.
test.concurrent('SIGINT in the middle of a run gives its folder back', async () => {
  const { run, lock } = await startSampleRun('released');
  process.kill(findWorkProcess(run.pid), 'SIGINT');
  const { code, signal, stderr } = await run.ended;
  expect({ code, signal }, stderr).toEqual({ code: 130, signal: null });
  expect(stderr).toContain('ragpp: interrupted');
  expect(existsSync(lock)).toBe(false);
  expect(lock).toMatch(/\.partial\/lock$/);
});

test.concurrent('a run that hears nothing ends as soon, and --resume takes its folder over', async () => {
  const { run, lock } = await startSampleRun('deaf');
  process.kill(findWorkProcess(run.pid), 'SIGSTOP');
  run.kill('SIGTERM');
  const { code, stderr } = await run.ended;
  expect(code, stderr).toBe(143);
  expect(stderr).toContain('a run goes on from there with --resume');
  expect(existsSync(lock)).toBe(true);
  const resumed = await runRagpp(...listInterruptedArgs('deaf'), '--resume');
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(readdirSync(join(root, 'deaf'))).toEqual([expect.stringMatching(/^sample-[0-9a-f]{12}$/), 'test-looks.json']);
});
