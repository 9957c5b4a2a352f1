import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../core/tensors/backend.ts';
import { beginSampleRun } from '../lab/launch/begun-run.fixture.ts';
import { hasOutcome, joinFailurePath, recordPath } from '../lab/run/arm-record.ts';
import { runRagpp } from './command.harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-arm-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(async () => {
  await useBackend('wasm');
  await beginSampleRun(folder);
});
const runSampleArm = (...more: string[]) => runRagpp('arm', folder, '--cache', join(folder, 'cache'), ...more);

test('an arm of a run leaves its record and no word', async () => {
  const before = tf.memory().numTensors;
  expect(await runSampleArm('--backend', 'wasm', '--arm', 'newest')).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(existsSync(recordPath(folder, 'newest'))).toBe(true);
  expect(tf.memory().numTensors).toBe(before);
});

test('an arm that fails leaves what it failed of, and exits with 1', async () => {
  const before = tf.memory().numTensors;
  const { code, stdout } = await runSampleArm('--backend', 'wasm', '--arm', 'overflowing');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(existsSync(joinFailurePath(folder, 'overflowing'))).toBe(true);
  expect(tf.memory().numTensors).toBe(before);
});

test('a run that was begun on another backend is not touched', async () => {
  const { code, stderr } = await runSampleArm('--backend', 'cpu', '--arm', 'other');
  expect(code).toBe(1);
  expect(stderr).toBe(
    `ragpp [VALIDATION]: run was begun with another hash, backend: ${folder}; start it again without --resume\n`,
  );
  expect(hasOutcome(folder, 'other')).toBe(false);
});

test('the backend is required, and help does not list the command', async () => {
  const { code, stderr } = await runSampleArm('--arm', 'newest');
  expect(code).toBe(2);
  expect(stderr).toContain("required option '--backend <name>' not specified");
  expect((await runRagpp('--help')).stdout).not.toMatch(/^ {2}arm /m);
});
