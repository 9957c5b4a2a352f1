import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { awaitFound, findWorkers } from '../../cli/process.harness.ts';
import { findBuiltModule } from '../../core/built-module.harness.ts';
import type { StageCounts } from '../../rank/signals/stage.ts';
import { outcomesIn } from '../run/arm-record.ts';
import type { LaunchJob, SharedTask } from './launcher.ts';
import { runInProcesses, TaskQueue } from './process-pool.ts';

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

const findBoth = () => (findWorkers(process.pid).length === 2 ? true : undefined);
const findNone = () => (findWorkers(process.pid).length === 0 ? true : undefined);

test('processes start while the tasks are planned', async () => {
  const job = createJob(async () => {
    await awaitFound(findBoth);
    return { tasks: [], needs: new Map(), note: () => {} };
  });
  await runInProcesses(job, 3);
  expect(outcomesIn(folder).has('a') && outcomesIn(folder).has('b')).toBe(true);
  await awaitFound(findNone);
});

test('a plan that fails, or that an end of the run finds unfinished, leaves no process', async () => {
  const failing = createJob(async () => {
    await awaitFound(findBoth);
    throw new Error('of the plan');
  });
  await expect(runInProcesses(failing, 2)).rejects.toThrow('of the plan');
  await awaitFound(findNone);
  const stop = new AbortController();
  const stopped = createJob(async () => {
    await awaitFound(findBoth);
    stop.abort(new Error('of the end'));
    return { tasks: [], needs: new Map(), note: () => {} };
  }, stop.signal);
  await expect(runInProcesses(stopped, 2)).rejects.toThrow('of the end');
  await awaitFound(findNone);
});

test('workers take tasks of different places, keep to theirs, and help elsewhere when none of theirs is left', async () => {
  const tasks = ['table 1', 'table 2', 'table 3', 'tuning 1'].map((id) => {
    const { request, ...task } = createTask(id, [], id.split(' ')[0] as string);
    return { ...task, request: { shared: request }, tries: 0 };
  });
  const queue = new TaskQueue(tasks);
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
