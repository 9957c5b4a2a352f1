import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StorageError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { beginSampleRun } from '../launch/begun-run.fixture.ts';
import { joinFailurePath, readArmRecord, recordPath } from './arm-record.ts';
import { type ArmRunner, joinRun, runArmTask } from './arm-runner.ts';
import { formatState, type RunState } from './partial-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-task-'));
afterAll(() => rmSync(folder, { recursive: true }));
const cacheFolder = join(folder, 'cache');
let state: RunState;
beforeAll(async () => {
  await useBackend('wasm');
  state = await beginSampleRun(folder);
});

describe('an arm of a run that was begun', () => {
  let runner: ArmRunner;
  beforeAll(async () => {
    runner = await joinRun(folder, 'wasm', cacheFolder);
  });
  afterAll(() => runner.dispose());

  test('leaves its record, and tells how far it is', async () => {
    const shares: number[] = [];
    expect(await runArmTask(folder, runner, 'newest', (share) => void shares.push(share))).toBe(false);
    expect(shares).toEqual([1 / 3, 2 / 3]);
    const { name, positions, scores, armsAtOnce } = readArmRecord(recordPath(folder, 'newest'));
    expect(armsAtOnce).toBe(5);
    const again = await runner.run('newest');
    expect({ name, positions, scores }).toEqual({ name: 'newest', positions: again.positions, scores: again.scores });
    expect(existsSync(joinFailurePath(folder, 'newest'))).toBe(false);
  });

  test.each([
    ['overflowing', 'NOT_FINITE', /is not finite at .*: (NaN|Infinity); /],
    ['nobody', 'VALIDATION', /^experiment has no arm: nobody; use the name of one of its arms$/],
  ])('%s leaves what it failed of', async (arm, code, message) => {
    expect(await runArmTask(folder, runner, arm)).toBe(true);
    const failure = JSON.parse(readFileSync(joinFailurePath(folder, arm), 'utf8'));
    expect(failure).toMatchObject({ name: arm, code, message: expect.stringMatching(message) });
    expect(existsSync(recordPath(folder, arm))).toBe(false);
  });

  test('rejects where nothing can be left', async () => {
    const file = join(folder, 'state.json');
    await expect(runArmTask(file, runner, 'newest')).rejects.toThrow(StorageError);
    await expect(runArmTask(file, runner, 'overflowing')).rejects.toThrow(StorageError);
  });
});

describe('a run is not joined', () => {
  const joinSampleRun = (backend: 'wasm' | 'cpu' = 'wasm') => joinRun(folder, backend, cacheFolder);
  const describeRefusal = (facts: string) => ({
    message: `run was begun with another ${facts}: ${folder}; start it again without --resume`,
    code: 'VALIDATION',
  });

  test('on another backend', async () => {
    await expect(joinSampleRun('cpu')).rejects.toMatchObject(describeRefusal('hash, backend'));
  });

  test('with another config', async () => {
    const path = join(folder, 'config.yaml');
    const config = readFileSync(path, 'utf8');
    writeFileSync(path, JSON.stringify({ ...JSON.parse(config), seed: 5 }));
    await expect(joinSampleRun()).rejects.toMatchObject(describeRefusal('hash'));
    writeFileSync(path, config);
  });

  test('that was begun by other code', async () => {
    const path = join(folder, 'state.json');
    writeFileSync(path, formatState({ ...state, recordVersion: 'older' }));
    await expect(joinSampleRun()).rejects.toMatchObject(describeRefusal('recordVersion'));
    writeFileSync(path, formatState(state));
  });

  test('with other data', async () => {
    appendFileSync(join(folder, 'qrels.txt'), 'q0-0 0 t0-1 1\n');
    await expect(joinSampleRun()).rejects.toMatchObject(describeRefusal('hash, dataHash'));
  });
});
