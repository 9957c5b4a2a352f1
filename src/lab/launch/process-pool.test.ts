import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { findBuiltModule } from '../../core/built-module.harness.ts';
import type { StageCounts } from '../../rank/signals/stage.ts';
import { outcomesIn } from '../run/arm-record.ts';
import type { LaunchJob, SharedTask } from './launcher.ts';
import { ProcessPool, TaskQueue } from './process-pool.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-pool-'));
afterAll(() => rmSync(root, { recursive: true }));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(root, 'run-'));
});

/** A task that the program of the harness logs, or dies of by the name of its arm. */
const createTask = (id: string, needs: readonly string[], place: string): SharedTask => ({
  id,
  needs,
  place,
  request: { arm: id, part: 0, parts: 1 },
});

/** A job of arms `a` and `b`. */
const createJob = (plan: NonNullable<LaunchJob['plan']>, signal = new AbortController().signal): LaunchJob => ({
  ...{ folder, cacheFolder: folder, backend: 'wasm', arms: ['a', 'b'], outcomes: outcomesIn(folder), plan, signal },
  ...{ program: { nodeOptions: [], main: findBuiltModule('lab/launch/arm-process.harness') } },
  ...{ runHere: () => Promise.reject(new Error('no arm is run here')), report: () => {} },
});

const runInProcesses = (job: LaunchJob, workers: number) => new ProcessPool(job, workers).run(job);

/** Runs arms `a` and `b`, which need all the shared tasks. @returns [time of begin or end, task, process] in order. */
async function runTasks(tasks: readonly SharedTask[], workers = 2) {
  const ids = tasks.map(({ id }) => id);
  const needs = new Map([
    ['a', ids],
    ['b', ids],
  ]);
  const stages: StageCounts[] = [];
  const note = (counts: StageCounts) => void stages.push(counts);
  await runInProcesses(
    createJob(async () => ({ tasks, needs, note })),
    workers,
  );
  const lines = readFileSync(join(folder, 'tasks.log'), 'utf8').trim().split('\n');
  const log = lines.map((line) => line.split('\t') as [what: string, task: string, process: string]);
  const at = (what: string, task: string) => log.findIndex(([one, other]) => one === what && other === task);
  return { log, at, stages };
}

test('a shared task begins once, after those that it needs, and the arms begin after all of them', async () => {
  const tasks = [
    createTask('vectors', [], 'table'),
    createTask('words', [], 'tuning'),
    createTask('pool', ['vectors', 'words'], 'table'),
    createTask('column', ['pool'], 'table'),
  ];
  const { log, at, stages } = await runTasks(tasks);
  expect(
    log
      .filter(([what]) => what === 'begin')
      .map(([, task]) => task)
      .sort(),
  ).toEqual(['a', 'b', 'column', 'pool', 'vectors', 'words'].sort());
  for (const { id, needs } of tasks) for (const need of needs) expect(at('begin', id)).toBeGreaterThan(at('end', need));
  for (const arm of ['a', 'b']) expect(at('begin', arm)).toBeGreaterThan(at('end', 'column'));
  expect(stages).toHaveLength(tasks.length);
});

/** The ids of the processes of the folder's job, once there are two. */
async function awaitTwoProcesses(): Promise<number[]> {
  const started = join(folder, 'started.log');
  for (;;) {
    const ids = existsSync(started) ? readFileSync(started, 'utf8').trim().split('\n').map(Number) : [];
    if (ids.length === 2) return ids;
    await sleep(10);
  }
}

/** Waits until none of some processes is there. */
async function awaitEnd(ids: readonly number[]): Promise<void> {
  const isThere = (id: number) => {
    try {
      return process.kill(id, 0);
    } catch {
      return false;
    }
  };
  while (ids.some(isThere)) await sleep(10);
}

test('processes start while the tasks are planned', async () => {
  let ids: number[] = [];
  const job = createJob(async () => {
    ids = await awaitTwoProcesses();
    return { tasks: [], needs: new Map(), note: () => {} };
  });
  await runInProcesses(job, 3);
  expect(outcomesIn(folder).has('a') && outcomesIn(folder).has('b')).toBe(true);
  await awaitEnd(ids);
  expect(new Set(ids).size).toBe(2);
});

test('what needs the data alone is done while the run has no folder yet, and is not done again', async () => {
  const tasks = ['vectors', 'words'].map((id) => createTask(id, [], id));
  const stages: StageCounts[] = [];
  const shared = {
    tasks,
    needs: new Map([['a', ['vectors']]]),
    note: (counts: StageCounts) => void stages.push(counts),
  };
  const job = createJob(async () => shared);
  const pool = new ProcessPool(job, 2);
  const data = mkdtempSync(join(root, 'data-'));
  pool.open({ config: { folder: data }, dataFolder: null }, shared);
  while (stages.length < 2) await sleep(10);
  expect(existsSync(join(folder, 'started.log'))).toBe(false);
  await pool.run(job);
  const readTasks = (of: string) =>
    readFileSync(join(of, 'tasks.log'), 'utf8')
      .trim()
      .split('\n')
      .flatMap((line) => (line.startsWith('begin') ? [line.split('\t')[1]] : []));
  expect(readTasks(data).sort()).toEqual(['vectors', 'words']);
  expect(readTasks(folder).sort()).toEqual(['a', 'b']);
});

const CHILDREN = `/proc/self/task/${process.pid}/children`;

test.skipIf(!existsSync(CHILDREN))('code is loaded at once on the processors that this process leaves', async () => {
  const main = join(folder, 'slow.mjs');
  writeFileSync(main, `process.on('message', () => {}); // never says that it has loaded`);
  const before = readFileSync(CHILDREN, 'utf8').split(' ').length;
  const countStarted = () => readFileSync(CHILDREN, 'utf8').split(' ').length - before;
  const atOnce = Math.max(1, availableParallelism() - 1);
  const pool = new ProcessPool(
    { cacheFolder: folder, backend: 'wasm', program: { nodeOptions: [], main } },
    atOnce + 3,
  );
  pool.start(atOnce + 3);
  await sleep(200);
  expect(countStarted()).toBe(atOnce);
  pool.end();
  while (countStarted() > 0) await sleep(10);
});

test.each(['a plan that fails', 'an end of the run while it is planned'])('%s leaves no process', async (what) => {
  const stop = new AbortController();
  let ids: number[] = [];
  const job = createJob(async () => {
    ids = await awaitTwoProcesses();
    if (what === 'a plan that fails') throw new Error(what);
    stop.abort(new Error(what));
    return { tasks: [], needs: new Map(), note: () => {} };
  }, stop.signal);
  await expect(runInProcesses(job, 2)).rejects.toThrow(what);
  await awaitEnd(ids);
  expect(outcomesIn(folder).has('a')).toBe(false);
});

test('a run that was ended before it is launched starts no process', async () => {
  const job = createJob(() => Promise.reject(new Error('nothing is planned')), AbortSignal.abort(new Error('ended')));
  await expect(runInProcesses(job, 2)).rejects.toThrow('ended');
  await sleep(100);
  expect(existsSync(join(folder, 'started.log'))).toBe(false);
});

test('workers take tasks of different places, keep to theirs, and help elsewhere when none of theirs is left', async () => {
  const tasks = ['table 1', 'table 2', 'table 3', 'tuning 1'].map((id) => {
    const { request, ...task } = createTask(id, [], id.split(' ')[0] as string);
    return { ...task, request: { shared: request }, tries: 0 };
  });
  const queue = new TaskQueue();
  queue.add(tasks);
  queue.complete();
  const taken: (string | undefined)[] = [];
  for (const worker of [0, 1, 0, 1, 1]) taken.push((await queue.take(worker))?.id);
  expect(taken).toEqual(['table 1', 'tuning 1', 'table 2', 'table 3', undefined]);
});

test('a shared task whose process dies is tried once more, and then left to the arms', async () => {
  const { log, at } = await runTasks([createTask('crash', [], 'table'), createTask('after', ['crash'], 'table')]);
  expect(log.filter(([what, task]) => what === 'begin' && task === 'crash')).toHaveLength(2);
  expect(at('end', 'crash')).toBe(-1);
  for (const arm of ['a', 'b']) expect(at('end', arm)).toBeGreaterThan(at('end', 'after'));
  expect(outcomesIn(folder).has('a') && outcomesIn(folder).has('b')).toBe(true);
});
