import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-run-cache-'));
const config = join(root, 'sample.yaml');
const cache = join(root, 'cache');
const small = ['--set', 'evaluation.limitQueries=7', '--set', 'evaluation.metrics=[mrr@10]'];
const listCachedRunArgs = (results: string) => [
  'run',
  config,
  '--cache',
  cache,
  '--results',
  join(root, results),
  ...small,
];
const NOBODY = 65_534;

/** Does work as a user who may write only where all may: root may write everywhere. */
async function withoutRights<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}

/** Changes the rights of the cache and of all in it. */
function allow(folders: number, files: number): void {
  chmodSync(cache, folders);
  for (const entry of readdirSync(cache, { recursive: true, withFileTypes: true }))
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? folders : files);
}

beforeAll(async () => {
  chmodSync(root, 0o777);
  writeSampleJsonl(root);
  writeFileSync(config, JSON.stringify(buildSampleConfig(root)));
  expect((await runRagpp(...listCachedRunArgs('first'))).code).toBe(0);
});
afterAll(() => {
  allow(0o755, 0o644);
  rmSync(root, { recursive: true });
});

test('a warm cache that cannot be written is enough for a run that has nothing to write', async () => {
  allow(0o555, 0o444);
  const warm = await withoutRights(() => runRagpp(...listCachedRunArgs('second')));
  expect(warm.code).toBe(0);
  expect(warm.stderr).not.toMatch(/^ragpp/m);
  const cold = await withoutRights(() => runRagpp(...listCachedRunArgs('third'), '--set', 'seed=8'));
  expect(cold.code).toBe(1);
  // access(2) asks for the rights of the real user, which a test cannot take from root for a while.
  expect(cold.stderr).toMatch(
    /^ragpp \[STORAGE\]: cannot (write to|make) folder \(EACCES: .*embeddings(\/lsa-\w+)?; check that the path exists and that you may access it$/m,
  );
});

test('a run mentions a cache above 1 GiB, and what to do', async () => {
  allow(0o755, 0o644);
  mkdirSync(join(cache, 'stages', 'large'));
  const large = join(cache, 'stages', 'large', 'x.safetensors');
  writeFileSync(large, '');
  truncateSync(large, 1.25 * 2 ** 30); // a hole, which takes no place
  const { code, stdout } = await runRagpp(...listCachedRunArgs('fourth'));
  expect(code).toBe(0);
  expect(stdout).toMatch(/^the cache holds 1\.3 GiB; ragpp cache gc --older-than 30 deletes .*cache$/m);
});
