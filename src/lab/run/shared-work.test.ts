import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { addCounts, type StageCounts } from '../../rank/signals/stage.ts';
import { applyOverrides, type Plain } from '../composition/config-file.ts';
import { resolveConfig } from '../config/config.ts';
import type { SharedTask } from '../launch/launcher.ts';
import { type ArmRunner, openArmRunner } from './arm-runner.ts';
import { buildSampleConfig, writeSampleJsonl } from './jsonl.fixture.ts';
import { doSharedWork, planOpenings, planSharedWork } from './shared-work.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-shared-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(async () => {
  await useBackend('wasm');
  writeSampleJsonl(folder);
});

/** The sample with a null control, whose stages are of another world. */
const OVERRIDES = ['controls=[permuted-order]', 'evaluation.metrics=[mrr@10]'];
const config = () => resolveConfig(applyOverrides(buildSampleConfig(folder) as Plain, OVERRIDES), 'sample');
const open = (cache: string) => openArmRunner(config(), { cacheFolder: join(folder, cache) });
const listNames = ({ source }: ArmRunner) => source.config.arms.map(({ name }) => name);

/** Two processes, in the place of which two runners take tasks in turn when those that they need are done. */
async function doTasks(runners: readonly ArmRunner[], tasks: readonly SharedTask[]): Promise<StageCounts[]> {
  const left = [...tasks];
  const open = new Set(tasks.map(({ id }) => id));
  const counts: StageCounts[] = [];
  for (let turn = 0; left.length > 0; turn++) {
    const at = left.findIndex(({ needs }) => !needs.some((id) => open.has(id)));
    const [task] = left.splice(at, 1) as [SharedTask];
    counts.push(await doSharedWork(runners[turn % runners.length] as ArmRunner, task.request));
    open.delete(task.id);
  }
  return counts;
}

async function runArms(runner: ArmRunner) {
  const records = [];
  for (const name of listNames(runner)) {
    const { stages, seconds: _, ...found } = await runner.run(name);
    records.push({ found, stages });
  }
  return records;
}
const sumExecuted = (counts: StageCounts, names: readonly string[]) =>
  names.reduce((sum, name) => sum + (counts[name]?.executed ?? 0), 0);

test('two processes make every shared stage once, and the arms find the same by them as one process does', async () => {
  const alone = await open('alone');
  const expected = await runArms(alone);
  const countsAlone = addCounts(...expected.map(({ stages }) => stages));
  await alone.dispose();
  const runners = [await open('shared'), await open('shared')];
  const { tasks, needs } = planSharedWork(runners[0] as ArmRunner, listNames(runners[0] as ArmRunner), 2);
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(tasks.length);
  for (const name of listNames(runners[0] as ArmRunner)) expect(needs.get(name)?.length).toBeGreaterThan(0);
  const counts = await doTasks(runners, tasks);
  const ran = await runArms(runners[1] as ArmRunner);
  expect(ran.map(({ found }) => found)).toEqual(expected.map(({ found }) => found));
  const both = addCounts(...counts, ...ran.map(({ stages }) => stages));
  const kept = readdirSync(join(folder, 'shared', 'stages')); // the names of stages that are kept on disk
  expect(kept.length).toBeGreaterThan(10);
  for (const name of kept) expect(both[name]?.executed, name).toBe(countsAlone[name]?.executed);
  expect(sumExecuted(addCounts(...ran.map(({ stages }) => stages)), kept)).toBeLessThan(
    sumExecuted(countsAlone, kept) / 4,
  );
  for (const runner of runners) await runner.dispose();
});

test('a workspace is opened by one process before others use it, and its texts are embedded then', async () => {
  const runner = await open('opened');
  const names = listNames(runner);
  const { tasks, needs } = planSharedWork(runner, names, 2);
  const openings = tasks.filter(({ request }) => !('stage' in request || 'part' in request));
  expect(openings.map(({ place }) => place).sort()).toEqual(['table', 'tuning']);
  for (const { id, place, request } of tasks) {
    const needed = tasks.find((task) => task.id === id)?.needs;
    const opening = openings.find((one) => one.place === place)?.id;
    if ('stage' in request && request.withoutVectors)
      for (const { id: opened } of openings) expect(needed).not.toContain(opened);
    else expect(needed).toEqual('stage' in request || 'part' in request ? expect.arrayContaining([opening]) : []);
  }
  const early = planOpenings(runner).tasks.map(({ id }) => id);
  expect(early.sort()).toEqual(openings.map(({ id }) => id).sort());
  const table = openings.find(({ place }) => place === 'table') as SharedTask;
  for (const name of names) expect(needs.get(name)).toContain(table.id);
  const embeddings = join(folder, 'opened', 'embeddings');
  expect(existsSync(embeddings)).toBe(false);
  await doSharedWork(runner, table.request);
  expect(readdirSync(embeddings).length).toBeGreaterThan(0);
  await runner.dispose();
});

test('stages that read no vectors are made before a text is embedded', async () => {
  const runner = await open('texts');
  const { tasks } = planSharedWork(runner, listNames(runner), 2);
  const early = tasks.filter(({ request }) => 'stage' in request && request.withoutVectors);
  const stages = join(folder, 'texts', 'stages');
  const ids = new Set(early.map(({ id }) => id));
  // Those over candidates that vectors find wait for these.
  const first = early.filter(({ needs }) => needs.every((id) => ids.has(id)));
  expect(new Set(first.map(({ place }) => place))).toEqual(
    new Set(['table without vectors', 'tuning without vectors']),
  );
  await doTasks([runner], first);
  expect(readdirSync(stages)).toEqual(expect.arrayContaining(['candidates-bm25', 'turn-components']));
  expect(readdirSync(join(stages, 'candidates-bm25'))).toHaveLength(2);
  expect(existsSync(join(folder, 'texts', 'embeddings'))).toBe(false);
  await runner.dispose();
});

test('what the cache has is no task', async () => {
  const runner = await open('shared');
  const { tasks } = planSharedWork(runner, listNames(runner), 2);
  expect(tasks.filter(({ request }) => 'stage' in request)).toEqual([]);
  await runner.dispose();
});

test('work that fails is left to the arms, which fail of it by themselves', async () => {
  const failing = [...OVERRIDES, 'arms.hybrid.set={bm25: {k: 17, variant: bm25l, k1: 1.7e308}}'];
  const raw = resolveConfig(applyOverrides(buildSampleConfig(folder) as Plain, failing), 'sample');
  const runner = await openArmRunner(raw, { cacheFolder: join(folder, 'failing') });
  const { tasks } = planSharedWork(runner, ['hybrid'], 2);
  await doTasks([runner], tasks);
  await expect(runner.run('hybrid')).rejects.toThrow('is not finite');
  await runner.dispose();
});
