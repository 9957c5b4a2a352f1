import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { findBuiltModule } from '../../core/built-module.harness.ts';
import { ProcessDiedError } from '../../core/errors/errors.ts';
import { hasOutcome, joinFailurePath, outcomesIn } from '../run/arm-record.ts';
import type { LaunchJob } from './launcher.ts';
import { LocalLauncher } from './local.ts';

let folder: string;
const folders: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ragpp-local-'));
  folders.push(folder);
});
afterAll(() => {
  for (const one of folders) rmSync(one, { recursive: true });
});

const CHILDREN = `/proc/self/task/${process.pid}/children`;
/** The ids of the processes that this one has started. */
const listChildren = () => readFileSync(CHILDREN, 'utf8').trim().split(' ');

/** The processes that were started after some, once there are as many. */
async function awaitStarted(before: readonly string[], count: number): Promise<string[]> {
  for (;;) {
    const started = listChildren().filter((id) => !before.includes(id));
    if (started.length === count) return started;
    await sleep(10);
  }
}

const program = { nodeOptions: [], main: findBuiltModule('lab/launch/arm-process.harness') };
const rejectHere = () => Promise.reject(new Error('no arm is run in this process'));

function buildLocalJob(arms: readonly string[], more: Partial<LaunchJob> = {}): LaunchJob {
  const { signal } = new AbortController();
  const places = { folder, cacheFolder: folder, backend: 'wasm' } as const;
  return {
    ...places,
    arms,
    outcomes: outcomesIn(folder),
    program,
    runHere: rejectHere,
    report: () => {},
    signal,
    ...more,
  };
}
const launch = (workers: number, job: LaunchJob) => new LocalLauncher({ name: 'local', workers }).launch(job);
const readFailureFile = (arm: string) => JSON.parse(readFileSync(joinFailurePath(folder, arm), 'utf8'));

test('one worker is this process, arm after arm', async () => {
  const met: string[] = [];
  const runHere = async (arm: string) => {
    met.push(arm);
  };
  const shares: [string, number][] = [];
  await launch(1, buildLocalJob(['a', 'b'], { runHere, report: (arm, share) => void shares.push([arm, share]) }));
  expect(met).toEqual(['a', 'b']);
  expect(shares).toEqual([
    ['a', 1],
    ['b', 1],
  ]);
});

describe('several workers', () => {
  test('are processes that share the arms, and tell how far they are', async () => {
    const arms = Array.from({ length: 13 }, (_, i) => `arm ${i}`);
    const shares = new Map<string, number[]>();
    const report = (arm: string, share: number) => void shares.set(arm, [...(shares.get(arm) ?? []), share]);
    await launch(3, buildLocalJob(arms, { report }));
    const processes = new Set(arms.map((arm) => readFailureFile(arm).message));
    expect(processes.size).toBeGreaterThan(1);
    expect(processes.size).toBeLessThanOrEqual(3);
    expect([...shares.values()]).toEqual(arms.map(() => [0.5, 1]));
  });

  test('may crash: the arm is tried once more, and fails alone where that crashes too', async () => {
    const arms = ['a', 'crash', 'b', 'crash-once', 'exit', 'c'];
    await launch(2, buildLocalJob(arms));
    for (const arm of ['a', 'b', 'c', 'crash-once']) expect(readFailureFile(arm).message).toMatch(/^by process \d+$/);
    expect(readFailureFile('crash')).toMatchObject({
      code: 'PROCESS_DIED',
      message: 'worker process was killed by SIGSEGV; run again with --retry-failed',
    });
    expect(readFailureFile('exit')).toMatchObject({
      message: 'worker process ended with exit code 7: last words; run again with --retry-failed',
      stack: 'first words\nlast words',
    });
  });

  test('that do not even start are an error of the launch, and no arm has failed', async () => {
    writeFileSync(join(folder, 'no-start'), '');
    const launched = launch(2, buildLocalJob(['a', 'b', 'c', 'd', 'e']));
    await expect(launched).rejects.toThrow(ProcessDiedError);
    await expect(launched).rejects.toThrow('worker process ended with exit code 1: ragpp [UNAVAILABLE]: no backend');
    expect(['a', 'b', 'c', 'd', 'e'].filter((arm) => hasOutcome(folder, arm))).toEqual([]);
  });

  const PIDS = /by process (\d+)/;
  test.skipIf(!existsSync(CHILDREN))('that were started before the run was begun run its arms', async () => {
    const launcher = new LocalLauncher({ name: 'local', workers: 3 });
    const before = listChildren();
    await launcher.start({ program, backend: 'wasm', cacheFolder: folder }, 2);
    const started = await awaitStarted(before, 2);
    const arms = ['a', 'b', 'c', 'd', 'e'];
    await launcher.launch(buildLocalJob(arms));
    const ran = new Set(arms.map((arm) => PIDS.exec(readFailureFile(arm).message)?.[1]));
    expect(started.filter((id) => ran.has(id))).toEqual(started);
  });

  test.skipIf(!existsSync(CHILDREN))('that were started for no run end with the launcher', async () => {
    const launcher = new LocalLauncher({ name: 'local', workers: 2 });
    const before = listChildren();
    const processes = await launcher.start({ program, backend: 'wasm', cacheFolder: folder }, 7);
    const started = await awaitStarted(before, 2);
    processes.end();
    while (started.some((id) => listChildren().includes(id))) await sleep(10);
    expect(listChildren().filter((id) => !before.includes(id))).toEqual([]);
  });

  test('end where they stand when the run is interrupted', async () => {
    const interruption = new AbortController();
    const report = (arm: string) => {
      if (arm === 'a') setTimeout(() => interruption.abort(), 100);
    };
    const launched = launch(2, buildLocalJob(['a', 'sleep'], { report, signal: interruption.signal }));
    await expect(launched).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
    expect(hasOutcome(folder, 'sleep')).toBe(false);
  });
});
