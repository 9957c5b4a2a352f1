import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Plain } from '../lab/composition/config-file.ts';
import { createDatabase } from '../lab/launch/queue.harness.ts';
import { connectQueue, QueueTables } from '../lab/launch/queue-tables.ts';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import { runRagpp } from './command.harness.ts';
import { awaitFound, findWorkers, type SampleProcess, startRagpp } from './process.harness.ts';

/** A server for these tests, and a command that kills it and starts it again: `.ci/postgres` sets both. */
const { RAGPP_TEST_POSTGRES: server, RAGPP_TEST_POSTGRES_RESTART: restart } = process.env;
if (server === undefined)
  process.stderr.write('workers of a queue were not tested: RAGPP_TEST_POSTGRES is not set; run .ci/postgres\n');

const root = mkdtempSync(join(tmpdir(), 'ragpp-queue-test-'));
afterAll(() => rmSync(root, { recursive: true, maxRetries: 5 }));
const data = join(root, 'data');
const config = join(root, 'sample.yaml');
const ARMS = 9;

beforeAll(() => {
  mkdirSync(data);
  writeSampleJsonl(data);
  const raw = buildSampleConfig('data') as Plain;
  const arms = Array.from({ length: ARMS - 2 }, (_, i) => [
    `half-life ${i}`,
    {
      from: 'hybrid',
      then: [{ decay: 2 ** i }, { blend: { trajectory: {} } }],
      tune: { 'fuse.convex.hnsw': [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], 'blend.trajectory.weight': [0.1, 0.2] },
    },
  ]);
  const { hybrid } = raw.arms as Plain;
  const overflowing = [{ search: { bm25: { k: 17, variant: 'bm25l', k1: 1.7e308 } } }];
  writeFileSync(config, JSON.stringify({ ...raw, arms: { hybrid, ...Object.fromEntries(arms), overflowing } }));
});

let url = '';
let workers = 0;
const listRunArgs = (name: string, ...more: string[]) => [
  'run',
  config,
  ...['--cache', join(root, `${name}-cache`), '--results', join(root, name)],
  ...more,
];
const queue = (more: string = '') => ['--launcher', `{name: queue, queue: "${url}", pollSeconds: 0.1${more}}`];
const startRun = (name: string, ...more: string[]) => startRagpp(listRunArgs(name, ...queue(), ...more));

/** A worker with a home, a cache and a working folder of its own. */
function startWorker(...more: string[]): SampleProcess {
  const cwd = join(root, `worker ${workers++}`);
  mkdirSync(cwd);
  const env = { ...process.env, HOME: cwd, RAGPP_CACHE: join(cwd, 'cache'), TMPDIR: cwd };
  return startRagpp(['work', '--queue', url, ...more], () => {}, { cwd, env });
}

/** The files that must not depend on the place where arms ran. */
function readLastingFiles(name: string): Record<string, string> {
  const folder = join(root, name, readdirSync(join(root, name)).find((file) => /^sample-\w+$/.test(file)) as string);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      statSync(join(folder, file)).isFile() &&
      !/^(arms|environment\.json|finished\.json|report\.html|state\.json)/.test(file),
  );
  expect(files).toContain('metrics.json');
  expect(files).toContain('per-query.jsonl');
  expect(files.some((file) => file.endsWith('.trec'))).toBe(true);
  return Object.fromEntries(files.sort().map((file) => [file, readFileSync(join(folder, file), 'latin1')]));
}

function countOutcomes(name: string): number {
  const [folder = ''] = existsSync(join(root, name)) ? readdirSync(join(root, name)) : [];
  const arms = join(root, name, folder, 'arms');
  return existsSync(arms) ? readdirSync(arms).filter((file) => /\.(safetensors|failed\.json)$/.test(file)).length : 0;
}

async function useTables<T>(work: (tables: QueueTables) => Promise<T>): Promise<T> {
  const tables = await QueueTables.open(await connectQueue(url));
  try {
    return await work(tables);
  } finally {
    await tables.dispose();
  }
}
const listRuns = () => useTables((tables) => tables.listRuns());
const awaitRuns = (count: number) =>
  expect.poll(async () => (await listRuns()).length, { timeout: 50_000, interval: 50 }).toBe(count);

/** Rows of the arms that somebody holds. */
async function countHeld(): Promise<number> {
  const database = await connectQueue(url);
  try {
    const sql = 'select 1 from ragpp_queue_arms where worker is not null and outcome is null';
    return (await database.transaction((session) => session.query(sql))).length;
  } finally {
    await database.dispose();
  }
}

describe.skipIf(server === undefined)('workers that share a database with the command', () => {
  let local: Record<string, string>;
  beforeAll(async () => {
    url = await createDatabase(server as string, 'queue_workers');
    const here = await startRagpp(listRunArgs('local')).ended;
    expect(here.code, here.stderr).toBe(1); // of the arm that fails
    local = readLastingFiles('local');
  });

  test('and neither a folder nor the data, leave the same files as one process, a failed arm included', async () => {
    const run = startRun('two');
    await awaitRuns(1);
    renameSync(data, `${data} of the command`);
    const [first, second] = [
      startWorker('--workers', '2', '--idle-seconds', '1.5'),
      startWorker('--idle-seconds', '1'),
    ];
    const { code, stderr } = await run.ended;
    renameSync(`${data} of the command`, data);
    expect(code, stderr).toBe(1);
    expect(stderr).toMatch(/^ragpp: arm overflowing failed \[NOT_FINITE\]/m);
    expect(readLastingFiles('two')).toEqual(local);
    const ends = await Promise.all([first.ended, second.ended]);
    expect(ends.map((end) => end.code)).toEqual([0, 0]);
    const lines = ends.flatMap(({ stderr }) => stderr.trim().split('\n'));
    expect(lines.filter((line) => line.startsWith('ragpp: done: arm '))).toHaveLength(ARMS - 1);
    expect(lines.filter((line) => line.startsWith('ragpp: failed: arm overflowing of '))).toHaveLength(1);
    expect(await listRuns()).toEqual([]);
  }, 120_000);

  test('compute nothing that another machine has made', async () => {
    const run = startRagpp([...listRunArgs('warm', ...queue()), '--cache', join(root, 'local-cache')]);
    const worker = startWorker('--idle-seconds', '8');
    expect((await run.ended).code).toBe(1);
    expect((await worker.ended).code).toBe(0);
    expect(readLastingFiles('warm')).toEqual(local);
    const [folder] = readdirSync(join(root, 'warm')).filter((file) => /^sample-\w+$/.test(file));
    const text = readFileSync(join(root, 'warm', folder as string, 'environment.json'), 'utf8');
    const { stages } = JSON.parse(text) as { readonly stages: Readonly<Record<string, { readonly executed: number }>> };
    const executed = Object.keys(stages).filter((name) => (stages[name]?.executed ?? 0) > 0);
    expect(stages).toHaveProperty('candidates-hnsw');
    expect(executed).toEqual([]);
  }, 120_000);

  test('stop when the command is interrupted, and the run goes on from there', async () => {
    const run = startRun('interrupted');
    const worker = startWorker();
    await expect.poll(() => countOutcomes('interrupted'), { timeout: 50_000, interval: 20 }).toBeGreaterThan(1);
    run.kill('SIGINT');
    expect((await run.ended).code).toBe(130);
    await awaitRuns(0);
    expect(await useTables((tables) => tables.listRuns())).toEqual([]);
    const before = countOutcomes('interrupted');
    expect(before).toBeLessThan(ARMS);
    const again = startRun('interrupted', '--resume');
    const { code, stderr } = await again.ended;
    expect(code, stderr).toBe(1);
    expect(readLastingFiles('interrupted')).toEqual(local);
    worker.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);
  }, 120_000);

  test('that are asked to end give their arms back at once', async () => {
    const run = startRun('given-back');
    const worker = startWorker('--lease-seconds', '1000');
    await expect.poll(countHeld, { timeout: 50_000, interval: 20 }).toBe(1);
    worker.kill('SIGTERM');
    const { code, stdout } = await worker.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/arms were run\n$/);
    expect(await countHeld()).toBe(0);
    const other = startWorker('--idle-seconds', '1');
    expect((await run.ended).code).toBe(1);
    expect(readLastingFiles('given-back')).toEqual(local);
    expect((await other.ended).code).toBe(0);
  }, 120_000);

  test('that are killed lose nothing', async () => {
    const run = startRagpp(listRunArgs('killed', ...queue(', leaseSeconds: 2')));
    for (let kill = 0; kill < 3; kill++) {
      const worker = startWorker('--lease-seconds', '1');
      await expect.poll(countHeld, { timeout: 50_000, interval: 10 }).toBe(1);
      await sleep(400 * kill);
      worker.kill('SIGKILL');
      await worker.ended;
      const again = startWorker('--lease-seconds', '1');
      const before = countOutcomes('killed');
      await expect.poll(() => countOutcomes('killed'), { timeout: 50_000, interval: 10 }).toBeGreaterThan(before);
      again.kill('SIGTERM');
      await again.ended;
    }
    const last = startWorker();
    const { code, stderr } = await run.ended;
    expect(code, stderr).toBe(1);
    // An arm that two workers were killed in has failed; one arm of the run always does.
    const again = await startRagpp(listRunArgs('killed', ...queue(), '--retry-failed')).ended;
    expect(again.code, again.stderr).toBe(1);
    expect(readLastingFiles('killed')).toEqual(local);
    last.kill('SIGTERM');
    await last.ended;
  }, 180_000);

  test('start another process in the place of one that dies in an arm', async () => {
    const run = startRun('died');
    await awaitRuns(1);
    const worker = startWorker('--idle-seconds', '2');
    const [child] = await awaitFound(() => {
      const found = findWorkers(worker.pid);
      return found.length > 0 && countOutcomes('died') > 0 ? found : undefined;
    });
    process.kill(child as number, 'SIGKILL');
    expect((await run.ended).code).toBe(1);
    expect(readLastingFiles('died')).toEqual(local);
    expect((await worker.ended).code).toBe(0);
  }, 120_000);

  test('refuse a run of another version, code or backend with both values', async () => {
    const facts = { version: '0.0.7', code: 'another', backend: 'wasm', blobBytes: 7 };
    await useTables((tables) => tables.add({ run: 'foreign', facts, files: {} }, ['a'], 100));
    const { code, stderr } = await startWorker('--idle-seconds', '1', '--backend', 'cpu').ended;
    await useTables((tables) => tables.remove('foreign'));
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /run foreign cannot be worked on here: version 0\.0\.7, here \d+\.\d+\.\d+\S*; code another, here [0-9a-f]+; backend wasm, here cpu; install the version/,
    );
  });

  test.skipIf(restart === undefined)(
    'go on after the database was away',
    async () => {
      const run = startRun('away');
      const worker = startWorker();
      await expect.poll(() => countOutcomes('away'), { timeout: 50_000, interval: 20 }).toBeGreaterThan(1);
      await promisify(execFile)('sh', ['-c', restart as string]);
      const { code, stderr } = await run.ended;
      expect(code, stderr).toBe(1);
      expect(readLastingFiles('away')).toEqual(local);
      worker.kill('SIGTERM');
      expect((await worker.ended).code).toBe(0);
    },
    120_000,
  );

  test('cannot have the code of a plugin, which is an error of the command', async () => {
    const plugin = join(root, 'plugin.mjs');
    writeFileSync(
      plugin,
      `export default { name: 'own', version: 1, metrics: [{ name: 'constant', description: 'd', compute: () => 0 }] };\n`,
    );
    const file = join(root, 'with-plugin.yaml');
    writeFileSync(file, JSON.stringify({ ...(buildSampleConfig(data) as Plain), plugins: [plugin] }));
    const { code, stderr } = await runRagpp(
      ...['run', file, '--cache', join(root, 'plugin-cache'), '--results', join(root, 'plugin'), ...queue()],
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /the config needs plugin .*plugin\.mjs; use --launcher local, or slurm with a shared folder/,
    );
  });
});

test('a database that does not answer is an error at the start', async () => {
  const { code, stderr } = await runRagpp('work', '--queue', 'postgres://user@127.0.0.1:9/queue');
  expect(code).toBe(1);
  expect(stderr).toMatch(/^ragpp \[UNAVAILABLE\]: Postgres at 127\.0\.0\.1:9\/queue is not available: /);
});
