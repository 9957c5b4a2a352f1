import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeSmallBert } from '../index/encoders/bert.fixture.ts';
import { runRagpp } from './command.harness.ts';
import { awaitFound, startRagpp } from './process.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-encoder-signal-'));
const [cache, small] = [join(root, 'cache'), join(root, 'small')];
const before = process.env.RAGPP_CACHE;

/** The answer for the weights, which does not end while it is there. */
let stuck: ServerResponse | undefined;
let isSlow = true;
const server = createServer(({ url = '' }, response) => {
  const name = url.replace('/small/', '');
  if (!readdirSync(small).includes(name)) return void response.writeHead(404).end();
  const bytes = readFileSync(join(small, name));
  response.writeHead(200, { 'content-length': bytes.length });
  if (!isSlow || name !== 'model.safetensors') return void response.end(bytes);
  stuck = response;
  response.write(bytes.subarray(0, 1000));
});

beforeAll(async () => {
  process.env.RAGPP_CACHE = cache;
  writeSmallBert(small);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  if (before === undefined) delete process.env.RAGPP_CACHE;
  else process.env.RAGPP_CACHE = before;
  rmSync(root, { recursive: true });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test('Ctrl-C during a download leaves no model, and the next attempt adds it', async () => {
  const words = ['encoder', 'add', `http://127.0.0.1:${(server.address() as AddressInfo).port}/small`];
  const started = startRagpp(words);
  await awaitFound(() => stuck);
  started.kill('SIGINT');
  const ended = await started.ended;
  expect(ended.code, ended.stderr).toBe(130);
  expect(ended.stderr).toMatch(
    /\nragpp: interrupted; run it again: the download of a public model goes on where it stopped\n$/,
  );
  expect((await runRagpp('encoder', 'list')).stdout).toContain(`no model in ${join(cache, 'models')}\n`);
  isSlow = false;
  expect(await runRagpp(...words)).toMatchObject({ code: 0 });
  expect(readdirSync(join(cache, 'models'))).toEqual(['small']);
});
