import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { probeBackends } from '../core/tensors/backend.ts';
import { awaitFound, startRagpp } from './process.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-backend-signal-'));

/** A registry that does not answer, and whether npm waits for it. */
const waiting = new Set<object>();
const server = createServer((request) => {
  waiting.add(request);
  request.socket.once('close', () => waiting.delete(request));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('RAGPP_CACHE', root);
  vi.stubEnv('npm_config_registry', `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test('Ctrl-C during an installation ends what it started and leaves no folder', async ({ skip }) => {
  if (probeBackends().some(({ name, available }) => name === 'webgpu' && available)) skip('webgpu is installed');
  const started = startRagpp(['backend', 'install', 'webgpu']);
  await awaitFound(() => (waiting.size > 0 ? true : undefined));
  started.kill('SIGINT');
  const ended = await started.ended;
  expect(ended.code, ended.stderr).toBe(130);
  expect(ended.stderr).toMatch(
    /\nragpp: interrupted; run it again: wheels that were downloaded are not downloaded again\n$/,
  );
  expect(ended.stderr).not.toContain('unexpected error');
  await awaitFound(() => (waiting.size === 0 ? true : undefined));
  expect(readdirSync(join(root, 'backends'))).toEqual([]);
});
