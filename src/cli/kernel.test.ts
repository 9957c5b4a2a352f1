import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { createHttpAuthority } from '../kernel/client/http-authority.ts';
import { writeKeyFile } from '../kernel/service/key-file.ts';
import { type KeyRing, rotateKeys } from '../kernel/signatures/kernel-keys.ts';
import { runRagpp } from './command.harness.ts';
import { type KernelProcess, startKernel } from './kernel-process.harness.ts';
import { awaitFound } from './process.harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'kernel-command-'));
afterAll(() => rmSync(folder, { recursive: true }));
const place = (name: string) => join(folder, name);
const readRing = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as KeyRing;

describe('keys', () => {
  test('are made, rotated, retired and shown without a secret', async () => {
    const path = place('keys.json');
    const shown = [await runRagpp('kernel', 'keygen', path)];
    const [first] = readRing(path).keys as [KeyRing['keys'][0]];
    expect(statSync(path).mode & 0o777).toBe(0o600);
    shown.push(await runRagpp('kernel', 'rotate', path));
    expect(readRing(path).keys.map(({ state }) => state)).toEqual(['signing', 'verifying']);
    expect(readRing(path).keys[1]).toEqual({ ...first, state: 'verifying' });
    shown.push(await runRagpp('kernel', 'rotate', path, '--retire'));
    expect(readRing(path).keys.map(({ state }) => state)).toEqual(['signing', 'retired', 'retired']);
    shown.push(await runRagpp('kernel', 'inspect', path));
    expect(shown.at(-1)?.stdout).toMatch(/^key +state +public key\n[0-9a-f]{16} +signing +[0-9a-f]{64}\n/);
    shown.push(await runRagpp('kernel', 'keygen', path));
    expect(shown.map(({ code }) => code)).toEqual([0, 0, 0, 0, 1]);
    const printed = shown.map(({ stdout, stderr }) => stdout + stderr).join();
    for (const { secret, privateKey, keyId } of readRing(path).keys) {
      expect(printed).toContain(keyId);
      expect(printed).not.toContain(secret);
      expect(printed).not.toContain(privateKey.split('\n')[1]);
    }
  });

  test('that are damaged are not shown in part', async () => {
    const path = place('damaged.json');
    await runRagpp('kernel', 'keygen', path);
    const text = readFileSync(path, 'utf8');
    const [{ secret }] = readRing(path).keys as [KeyRing['keys'][0]];
    for (const damaged of [text.slice(0, -9), text.replace(secret, `${secret}f`)]) {
      writeFileSync(path, damaged);
      for (const command of ['inspect', 'rotate']) {
        const { code, stdout, stderr } = await runRagpp('kernel', command, path);
        expect(code).toBe(2);
        expect(stdout + stderr).not.toContain(secret.slice(0, 12));
      }
    }
  });
});

test('a policy is shown by its reference, a wrong one by its faults', async () => {
  writeFileSync(place('policy.yaml'), 'id: careful\nmaxNodes: 40\n');
  const { code, stdout } = await runRagpp('kernel', 'inspect', '--policy', place('policy.yaml'));
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^careful@1#[0-9a-f]{16}\n$/)]);
  writeFileSync(place('policy.yaml'), 'id: careful\nmaxNode: 40\n');
  const { code: wrong, stderr } = await runRagpp('kernel', 'inspect', '--policy', place('policy.yaml'));
  expect([wrong, stderr]).toEqual([2, expect.stringContaining('did you mean maxNodes?')]);
});

test('serve needs a dataset, a policy and keys that others cannot read', async () => {
  const path = place('shared.json');
  await runRagpp('kernel', 'keygen', path);
  const serve = async (...more: string[]) => (await runRagpp('kernel', 'serve', ...more)).stderr;
  expect(await serve('--policy', 'x')).toContain('--keys: expected a file of ragpp kernel keygen');
  expect(await serve('--keys', path)).toContain('--policy: expected a file with a policy');
  writeFileSync(place('p.yaml'), 'id: p\n');
  expect(await serve('--keys', path, '--policy', place('p.yaml'))).toContain(
    '[config]: expected a config, or --dataset',
  );
  expect(await serve('--dataset', 'jsonl', '--port', '70000')).toContain('not a whole number from 0 to 65535');
  chmodSync(path, 0o644);
  expect(await serve('--keys', path, '--policy', place('p.yaml'))).toContain(`chmod 600 ${path}`);
});

describe('a kernel that serves', () => {
  let kernel: KernelProcess | undefined;
  afterEach(async () => {
    await kernel?.dispose();
    kernel = undefined;
  });

  test('gives slices, takes rotated keys with SIGHUP, ends with 0, and prints no secret', async () => {
    kernel = await startKernel('--max-turns', '100000');
    const { baseUrl, policyRef, keys, keyFile, folder: own } = kernel;
    const authority = createHttpAuthority({ baseUrl, timeoutSeconds: 20 });
    const ask = () => authority.slice({ policyRef, scope: {} });
    const slice = await ask();
    expect(slice).toMatchObject({ keyId: keys.keys[0]?.keyId, policyRef });
    expect(slice.turnIds.length).toBeGreaterThan(3);
    await expect(authority.slice({ policyRef, scope: {}, asOf: 1 })).rejects.toMatchObject({ reason: 'moment' });

    writeFileSync(join(own, 'slice.json'), JSON.stringify(slice));
    const inspect = (key: string) => runRagpp('kernel', 'inspect', join(own, 'slice.json'), '--public-key', key);
    const shown = await (await fetch(`${baseUrl}/keys`)).json();
    const publicKey = (shown as { keys: { publicKey: string }[] }).keys[0]?.publicKey as string;
    expect(await inspect(publicKey)).toMatchObject({
      ...{ code: 0, stdout: expect.stringMatching(new RegExp(`signed by key +${slice.keyId}\n`)) },
    });
    expect(await inspect('0'.repeat(64))).toMatchObject({ code: 1 });

    // Keys that cannot be used change nothing.
    writeFileSync(keyFile, '{');
    kernel.kill('SIGHUP');
    const next = rotateKeys(keys);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await ask()).keyId).toBe(slice.keyId);
    writeKeyFile(keyFile, next);
    kernel.kill('SIGHUP');
    let signer = '';
    const answers: Promise<void>[] = []; // all of them come before the kernel ends
    await awaitFound(() => {
      const answer = ask().then(({ keyId }) => {
        signer = keyId;
      });
      answers.push(answer);
      return signer === next.keys[0]?.keyId ? signer : undefined;
    });
    await Promise.all(answers);
    await authority.verify(slice, null);

    kernel.kill('SIGTERM');
    const { code, stdout, stderr } = await kernel.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^kernel listens on http:\/\/127\.0\.0\.1:\d+\nkernel signs by key [0-9a-f]{16}\n$/);
    expect(stderr).toContain('kernel keeps the keys that it has: 1 error');
    for (const { secret, privateKey } of next.keys) {
      expect(stdout + stderr).not.toContain(secret);
      expect(stdout + stderr).not.toContain(privateKey.split('\n')[1]);
    }
    await expect(ask()).rejects.toMatchObject({ reason: 'kernel-unreachable' });
  });
});
