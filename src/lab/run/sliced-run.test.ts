import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { loadDataset } from '../../data/registry.ts';
import { Kernel } from '../../kernel/authority/kernel.ts';
import { slicePolicySchema } from '../../kernel/policies/policy.ts';
import { formatPolicyRef } from '../../kernel/policies/policy-ref.ts';
import { makeKeys } from '../../kernel/policies/slices.fixture.ts';
import { createKernelService } from '../../kernel/service/kernel-service.ts';
import { AdmissibilityError } from '../../kernel/signatures/admissibility-error.ts';
import { walkByDefinition } from '../../kernel/slices/slice-walk.oracle.ts';
import type { Dataset } from '../../model/dataset.ts';
import type { Plain } from '../composition/config-file.ts';
import { resolveConfig } from '../config/config.ts';
import { LocalLauncher } from '../launch/local.ts';
import { replayArm } from './arm-replay.ts';
import { FolderExecution } from './execution.ts';
import { LocalKernel } from './local-kernel.ts';
import { type OpenRunContext, runExperiment } from './run.ts';
import { runFiles } from './run-folder.ts';
import { ReplayedSlices } from './run-slices.ts';

const root = mkdtempSync(join(tmpdir(), 'sliced-'));
afterAll(() => rmSync(root, { recursive: true }));
const POLICY = slicePolicySchema.parse({ id: 'near', maxNodes: 7 });
const bm25 = [{ search: { bm25: { k: 23 } } }];

const resolve = (arms: object) =>
  resolveConfig(
    {
      ...{ name: 'sliced', seed: 5, embedding: { encoder: 'lsa' }, dataset: { name: 'synthetic', conversations: 10 } },
      evaluation: { baseline: 'free', metrics: ['mrr@10'], split: 'all', samples: 200 },
      arms: { free: bm25, ...arms },
    } as Plain,
    'sliced',
  );
const local = resolve({
  near: { steps: [{ slice: { policy: POLICY } }, ...bm25], tune: { 'bm25.k': [2, 23] } },
  other: { from: 'near', set: { 'slice.policy': { ...POLICY, id: 'other', maxNodes: 3 } } },
});

let dataset: Dataset;
beforeAll(async () => {
  await useBackend('wasm');
  dataset = await loadDataset(local.dataset, { cacheFolder: null });
});

const runIn = (config: typeof local, cacheFolder: string | null, more: Partial<OpenRunContext> = {}) =>
  runExperiment(config, { backend: 'wasm', cacheFolder, command: 'ragpp run', ...more });

/** Writes a finished run as `ragpp run` does. */
async function runInFolder(
  config: typeof local,
  results: string,
  cacheFolder: string,
  more: Partial<OpenRunContext> = {},
) {
  const execution = new FolderExecution({
    ...{ results, opening: 'resume', launcher: new LocalLauncher({ name: 'local', workers: 1 }) },
    signal: new AbortController().signal,
  });
  const context = { backend: 'wasm', cacheFolder, command: 'ragpp run', ...more } as const;
  try {
    return execution.finish(runFiles(await runExperiment(config, context, (run) => execution.execute(run))));
  } finally {
    execution.release();
  }
}

async function findReason(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(AdmissibilityError);
  return (error as AdmissibilityError).reason;
}

const listFiles = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));

test('a run with a local kernel stores its slices, a replay gives the same files, and refuses what was altered', async () => {
  const cache = join(root, 'cache');
  const folder = await runInFolder(local, join(root, 'local'), cache);
  expect(statSync(join(cache, 'kernel', 'keys.json')).mode & 0o777).toBe(0o600);
  const { publicKey } = JSON.parse(readFileSync(join(folder, 'slices', 'keys.json'), 'utf8'));
  const stored = listFiles(join(folder, 'slices'));
  expect(Object.keys(stored)).toEqual(['keys.json', 'near.jsonl', 'other.jsonl']);
  const secrets = readFileSync(join(cache, 'kernel', 'keys.json'), 'utf8').match(/[0-9a-f]{64}/g) as string[];
  expect(secrets).toHaveLength(1);
  expect(JSON.stringify([stored, listFiles(join(folder, 'runs'))])).not.toContain(secrets[0]);

  // Every ranked turn is in the slice by the definition, and every inadmissible turn is counted.
  const metrics = JSON.parse(readFileSync(join(folder, 'metrics.json'), 'utf8'));
  const slices = dataset.queries.map(({ anchorTurnId, timestamp }) =>
    walkByDefinition(dataset.corpus.turns, POLICY, anchorTurnId as string, timestamp).map(([id]) => id),
  );
  const ranked = stored['near.jsonl']?.length === 0 ? '' : readFileSync(join(folder, 'runs', 'near.trec'), 'utf8');
  for (const line of ranked.trim().split('\n')) {
    const [query, , turn] = line.split(' ') as [string, string, string];
    expect(slices[dataset.queries.findIndex(({ id }) => id === query)]).toContain(turn);
  }
  const relevant = dataset.queries.flatMap(({ id }, query) =>
    [...(dataset.qrels.get(id) ?? [])]
      .filter(([, grade]) => grade >= dataset.relevantGrade)
      .map(([turn]) => ({ turn, query })),
  );
  const outside = relevant.filter(({ turn, query }) => !slices[query]?.includes(turn)).length;
  const near = metrics.arms.find(({ name }: { name: string }) => name === 'near');
  expect(outside).toBeGreaterThan(0);
  expect(near.attribution.slice).toBe(outside);
  expect(near.slices).toMatchObject({ relevant: relevant.length, inadmissible: outside, unanchored: 0, refused: 0 });
  expect(near.slices.meanTurns).toBe(slices.reduce((sum, { length }) => sum + length, 0) / slices.length);

  const replay = new ReplayedSlices(folder);
  expect(replay.keys).toEqual({ publicKey, replayed: null });
  const replayed = await runInFolder(local, join(root, 'replayed'), join(root, 'other-cache'), { replay });
  expect(listFiles(join(replayed, 'runs'))).toEqual(listFiles(join(folder, 'runs')));
  expect(readFileSync(join(replayed, 'metrics.json'), 'utf8')).toBe(JSON.stringify(metrics, null, 2).concat('\n'));
  expect({ ...listFiles(join(replayed, 'slices')), 'keys.json': '' }).toEqual({ ...stored, 'keys.json': '' });
  expect(existsSync(join(root, 'other-cache', 'kernel'))).toBe(false);

  const alter = (change: (line: Record<string, unknown>) => object) => {
    const [first, ...lines] = stored['near.jsonl']!.split('\n') as [string, ...string[]];
    writeFileSync(
      join(folder, 'slices', 'near.jsonl'),
      [JSON.stringify(change(JSON.parse(first))), ...lines].join('\n'),
    );
    return runIn(local, null, { replay: new ReplayedSlices(folder) });
  };
  const ids = (line: Record<string, unknown>) => line.turnIds as string[];
  expect(await findReason(alter((line) => ({ ...line, turnIds: ids(line).slice(1) })))).toBe('fingerprint');
  expect(await findReason(alter((line) => ({ ...line, expiresAt: Number(line.expiresAt) + 1 })))).toBe('signature');
  const refuse = ({ query, policyRef, scope, issuedAt }: Record<string, unknown>) => ({
    query,
    policyRef,
    scope,
    issuedAt,
    refused: 'no-anchor',
  });
  expect(await findReason(alter(refuse))).toBe('no-anchor');
  expect(await findReason(alter((line) => ({ ...line, issuedAt: 1 })))).toBe('kernel-refused');
  expect(() => alter(({ query }) => ({ query }))).toThrow(/malformed.*near\.jsonl:1; run without/);
}, 60_000);

test('a kernel that ends in the middle of a run leaves no result, and the next run goes on with what is signed', async () => {
  const keys = makeKeys();
  const policies = [POLICY, slicePolicySchema.parse({ ...POLICY, id: 'second' })];
  const kernel = new Kernel({ corpus: dataset.corpus, policies, keys, allowAsOf: true });
  let asked = 0;
  const serve = async (most: number) => {
    const service = createKernelService(kernel);
    service.app.addHook('onRequest', async (_request, { raw }) => {
      if (++asked > most) raw.destroy();
    });
    await service.app.listen({ host: '127.0.0.1', port: 0 });
    return { service, url: `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}` };
  };
  const publicKey = kernel.keys[0]?.publicKey;
  const buildConfig = (url: string) =>
    resolve(
      Object.fromEntries(
        policies.map((policy) => [policy.id, [{ slice: { policy, kernel: url, publicKey } }, ...bm25]]),
      ),
    );
  const [cache, results] = [join(root, 'remote-cache'), join(root, 'remote')];
  const queries = dataset.queries.length;
  const first = await serve(queries + 2);
  expect(await findReason(runInFolder(buildConfig(first.url), results, cache))).toMatch(/^kernel-/);
  await first.service.close(0);
  expect(existsSync(results) ? readdirSync(results) : []).toEqual([]);

  asked = 0;
  const second = await serve(Number.POSITIVE_INFINITY);
  const folder = await runInFolder(buildConfig(second.url), results, cache);
  expect(asked).toBe(queries);
  expect(readdirSync(join(folder, 'slices'))).toEqual(['keys.json', 'near.jsonl', 'second.jsonl']);
  await second.service.close(0);

  // Nothing is asked again, and the run has the same name, wherever the kernel listens.
  const again = await runInFolder(buildConfig('http://127.0.0.1:9'), results, cache);
  expect(again).toBe(folder);
});

test('a local kernel that is killed answers nothing more', async () => {
  const options = { config: local, policies: [POLICY], keyFile: join(root, 'cache', 'kernel', 'keys.json') };
  const kernel = await LocalKernel.start({ ...options, cacheFolder: null });
  const request = { policyRef: formatPolicyRef(POLICY), scope: { conversationId: null, author: null, channel: null } };
  const ask = () =>
    kernel.authority.slice({
      ...request,
      scope: { ...request.scope, anchorTurnId: dataset.corpus.turns[0]!.id },
      asOf: 2e12,
    });
  expect((await ask()).policyRef).toBe(request.policyRef);
  process.kill(kernel.pid, 'SIGKILL');
  expect(await findReason(ask())).toBe('kernel-unreachable');
  await kernel.close();
}, 30_000);

test('a local kernel cannot load a dataset in memory', async () => {
  await expect(runIn(local, null, { dataset })).rejects.toThrow('set slice.kernel to the URL of a kernel');
});

test('a memory that grows ranks within the slices that a run is signed, byte for byte', async () => {
  const { difference, live } = await replayArm(local, 'near', { cacheFolder: join(root, 'cache'), limit: 7 });
  expect(difference).toBe(null);
  expect(live.split('\n').length).toBeGreaterThan(7);
});
