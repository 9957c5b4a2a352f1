import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import type { Plain } from '../composition/config-file.ts';
import { resolveConfig } from '../config/config.ts';
import type { Launcher, LaunchJob } from '../launch/launcher.ts';
import { joinRun, runArmTask } from './arm-runner.ts';
import { FolderExecution } from './execution.ts';
import { buildSampleConfig, writeSampleJsonl } from './jsonl.fixture.ts';
import type { Opening } from './partial-folder.ts';
import { type FinishedRun, runExperiment } from './run.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-execution-'));
afterAll(() => rmSync(root, { recursive: true }));
const results = join(root, 'results');
const cacheFolder = join(root, 'cache');
beforeAll(async () => {
  await useBackend('wasm');
  writeSampleJsonl(root);
});
beforeEach(() => rmSync(results, { recursive: true, force: true }));

/** Runs the sample with a launcher. @returns what came of it and the execution, which still has its folder. */
async function run(launch: Launcher['launch'], opening: Opening = 'fresh', atOnce = 1, progress?: StartProgress) {
  const config = resolveConfig(buildSampleConfig(root) as Plain, 'sample');
  const launcher = { name: 'sample', countArmsAtOnce: (arms: number) => Math.min(arms, atOnce), launch };
  const { signal } = new AbortController();
  const execution = new FolderExecution({ results, opening, launcher, signal });
  const context = {
    backend: 'wasm',
    cacheFolder,
    command: 'ragpp run',
    ...(progress === undefined ? {} : { progress }),
  } as const;
  let finished: FinishedRun | Error;
  try {
    finished = await runExperiment(config, context, (prepared) => execution.execute(prepared));
  } catch (error) {
    finished = error as Error;
  }
  return { finished, execution };
}
const runEveryArm = async ({ arms, runHere }: LaunchJob) => {
  for (const arm of arms) await runHere(arm);
};
const findPartialFolder = () => join(results, readdirSync(results)[0] as string);

test('what is found in a folder is what is found in memory', async () => {
  const { finished, execution } = await run(runEveryArm);
  execution.release();
  const config = resolveConfig(buildSampleConfig(root) as Plain, 'sample');
  const inMemory = await runExperiment(config, { backend: 'wasm', cacheFolder, command: 'ragpp run' });
  expect((finished as FinishedRun).runs).toEqual(inMemory.runs);
  expect((finished as FinishedRun).result.arms).toEqual(inMemory.result.arms);
});

test('an arm of which the launcher leaves nothing has failed', async () => {
  const { finished, execution } = await run(async ({ arms, runHere }) => {
    for (const arm of arms.slice(0, -1)) await runHere(arm);
  });
  execution.release();
  expect((finished as FinishedRun).result.failures).toEqual([
    {
      name: 'propagated',
      description: '',
      code: 'PROCESS_DIED',
      message: 'launcher sample ended without a record of arm: propagated; run again with --retry-failed',
    },
  ]);
});

test('a launcher that breaks off is an error; what it has done is kept, and a resumption launches the rest', async () => {
  const first = await run(async ({ arms, runHere }) => {
    for (const arm of arms.slice(0, 2)) await runHere(arm);
    throw new ValidationError('lights out');
  });
  expect(first.finished).toBeInstanceOf(ValidationError);
  first.execution.release();
  const launched: string[] = [];
  const second = await run(async (job) => {
    launched.push(...job.arms);
    await runEveryArm(job);
  }, 'resume');
  expect(launched).toEqual(['Decayed × 2', 'unified', 'propagated']);
  expect((second.finished as FinishedRun).result.arms).toHaveLength(5);
  second.execution.release();
});

test.each(['resume', 'retry-failed'] as const)(
  'a record that was cut short is made again by %s, which says so',
  async (opening) => {
    const first = await run(runEveryArm);
    first.execution.release();
    truncateSync(join(findPartialFolder(), 'arms', 'unified.safetensors'), 1000);
    const launched: string[] = [];
    const lines: string[] = [];
    const collectStageLines: StartProgress = (stage) => ({
      update() {},
      finish: (remark) => void lines.push(`${stage}: ${remark}`),
    });
    const second = await run(
      async (job) => {
        launched.push(...job.arms);
        await runEveryArm(job);
      },
      opening,
      1,
      collectStageLines,
    );
    second.execution.release();
    expect(launched).toEqual(['unified']);
    expect(lines).toContain('damaged records: these arms run again: unified');
    expect((second.finished as FinishedRun).runs).toEqual((first.finished as FinishedRun).runs);
  },
);

test('the number of arms at a time is that of the command that ran them, not of the one that resumes', async () => {
  const first = await run(
    async ({ arms, runHere }) => {
      for (const arm of arms.slice(0, 2)) await runHere(arm);
      throw new ValidationError('lights out');
    },
    'fresh',
    3,
  );
  first.execution.release();
  const { finished, execution } = await run(runEveryArm, 'resume');
  execution.release();
  expect((finished as FinishedRun).result.armsAtOnce).toBe(3);
  const alone = await run(runEveryArm);
  alone.execution.release();
  expect((alone.finished as FinishedRun).result.armsAtOnce).toBe(1);
});

test('records of other code are not resumed, nor does a process with other code join the run', async () => {
  (await run(runEveryArm)).execution.release();
  const folder = findPartialFolder();
  const state = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8'));
  writeFileSync(join(folder, 'state.json'), JSON.stringify({ ...state, recordVersion: 'older' }));
  const { finished } = await run(runEveryArm, 'resume');
  expect(finished).toBeInstanceOf(ValidationError);
  expect((finished as Error).message).toMatch(/^run cannot be resumed, since it was begun with another recordVersion/);
  await expect(joinRun(folder, 'wasm', cacheFolder)).rejects.toThrow(
    `run was begun with another recordVersion: ${folder}; start it again without --resume`,
  );
});

test('another process finds in the folder all that it needs to run an arm', async () => {
  (await run(runEveryArm)).execution.release();
  const folder = findPartialFolder();
  const path = join(folder, 'arms', 'unified.safetensors');
  const before = readFileSync(path);
  rmSync(path);
  const runner = await joinRun(folder, 'wasm', cacheFolder);
  expect(await runArmTask(folder, runner, 'unified')).toBe(false);
  await runner.dispose();
  // The data at the end of the file: seconds and counts in the header may differ.
  const skipHeader = (bytes: Buffer) => bytes.subarray(8 + Number(bytes.readBigUInt64LE()));
  expect(skipHeader(readFileSync(path)).equals(skipHeader(before))).toBe(true);
});
