import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applyOverrides, type Plain } from '../lab/composition/config-file.ts';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import { runRagpp } from './command.harness.ts';
import { awaitFound, findWorkers, findWorkProcess, startRagpp, startSourceRagpp } from './process.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-processes-'));
afterAll(() => rmSync(root, { recursive: true, maxRetries: 5 }));
const config = join(root, 'sample.yaml');
const ARMS = 11;

/** A config whose arms differ in their half-life and are each tuned over the same points. */
function writeConfig(): void {
  const raw = applyOverrides(buildSampleConfig(root) as Plain, ['evaluation.metrics=[mrr@10]']);
  const { hybrid } = raw.arms as Plain;
  const weights = Array.from({ length: 13 }, (_, i) => (i + 1) / 14);
  const arms = Array.from({ length: ARMS - 1 }, (_, i) => [
    `half-life ${i}`,
    {
      from: 'hybrid',
      then: [{ decay: 2 ** i }, { blend: { trajectory: {} } }],
      tune: { 'fuse.convex.hnsw': weights, 'blend.trajectory.weight': [0.1, 0.2] },
    },
  ]);
  writeFileSync(config, JSON.stringify({ ...raw, arms: { hybrid, ...Object.fromEntries(arms) } }));
}

beforeAll(() => {
  writeSampleJsonl(root);
  writeConfig();
});

const listProcessRunArgs = (name: string, ...more: string[]) => [
  'run',
  config,
  ...['--cache', join(root, `${name}-cache`), '--results', join(root, name)],
  ...more,
];
const findNamedRunFolder = (name: string) => join(root, name, readdirSync(join(root, name))[0] as string);

/** The files that finished arms have left so far. */
function listFinishedFiles(name: string): string[] {
  const [folder = ''] = existsSync(join(root, name)) ? readdirSync(join(root, name)) : [];
  const arms = join(root, name, folder, 'arms');
  return existsSync(arms) ? readdirSync(arms).filter((file) => /\.(safetensors|failed\.json)$/.test(file)) : [];
}
/** Their bytes, which hold the seconds that an arm took. */
const readArmBytes = (name: string, files: readonly string[]) =>
  files.map((file) => readFileSync(join(findNamedRunFolder(name), 'arms', file), 'latin1'));

/** What must not depend on how a run came about, as how many arms it runs at once does. */
function readLastingFiles(name: string): Record<string, string> {
  const folder = findNamedRunFolder(name);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      statSync(join(folder, file)).isFile() &&
      !/^(arms|environment\.json|finished\.json|report\.html|state\.json)/.test(file),
  );
  return Object.fromEntries(files.sort().map((file) => [file, readFileSync(join(folder, file), 'latin1')]));
}

let whole: Record<string, string>;
let fitted: string;
beforeAll(async () => {
  const { code, stderr } = await runRagpp(...listProcessRunArgs('whole'));
  expect(code, stderr).toBe(0);
  fitted = stderr;
  whole = readLastingFiles('whole');
  expect(Object.keys(whole)).toEqual(expect.arrayContaining(['metrics.json', 'per-query.jsonl', 'runs/hybrid.trec']));
});

test('kill -9 in the middle of a run with workers ends these too and loses their arms alone; --resume ends with the same bytes', async () => {
  const killed = startSourceRagpp(listProcessRunArgs('killed', '--workers', '2'));
  // The arms that are left are done in milliseconds: what to look for is known before.
  const workers = await awaitFound(() => {
    const found = existsSync(join(root, 'killed')) ? findWorkers(findWorkProcess(killed.pid)) : [];
    return found.length === 2 ? found : undefined;
  });
  const processes = [findWorkProcess(killed.pid), ...workers];
  await awaitFound(() => (listFinishedFiles('killed').length > 0 ? true : undefined));
  killed.kill('SIGKILL');
  expect((await killed.ended).signal).toBe('SIGKILL');
  await awaitFound(() => (processes.some((pid) => existsSync(`/proc/${pid}`)) ? undefined : true));
  expect(findNamedRunFolder('killed')).toMatch(/\.partial$/);
  const done = listFinishedFiles('killed');
  expect(done.length).toBeLessThan(ARMS);
  const bytes = readArmBytes('killed', done);
  const { code, stderr } = await runRagpp(...listProcessRunArgs('killed', '--resume'));
  expect(code, stderr).toBe(0);
  expect(stderr).toContain(`arms: ${ARMS - done.length} arms on 14 queries`);
  expect(readArmBytes('killed', done)).toEqual(bytes);
  expect(readdirSync(join(root, 'killed'))).toEqual([expect.stringMatching(/-[0-9a-f]{12}$/), 'test-looks.json']);
  expect(readLastingFiles('killed')).toEqual(whole);
});

test('two workers find what one process finds, byte for byte, also where one of them crashes meanwhile', async () => {
  const run = runRagpp(...listProcessRunArgs('two', '--workers', '2'));
  const [victim] = await awaitFound(() => (listFinishedFiles('two').length > 0 ? findWorkers(process.pid) : undefined));
  process.kill(victim as number, 'SIGSEGV');
  const { code, stderr } = await run;
  expect(code, stderr).toBe(0);
  expect(findWorkers(process.pid)).toEqual([]);
  expect(readLastingFiles('two')).toEqual(whole);
  expect(fitted).toContain('singular vectors');
  expect(stderr).not.toContain('singular vectors'); // the workers have fitted
});

test('--profile tells of every process where it spent its time, with the garbage of the arms that it ran', async () => {
  const arms = ['--arm', 'half-life 1', '--arm', 'half-life 2'];
  const { code, stderr } = await runRagpp(...listProcessRunArgs('profile', ...arms, '--workers', '2', '--profile'));
  expect(code, stderr).toBe(0);
  const folder = join(findNamedRunFolder('profile'), 'profile');
  const profiles = readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'));
  const ranking = profiles.filter((name) =>
    /"functionName":"(?:runArmTask|rankArm|retrieve)"/.test(readFileSync(join(folder, name), 'utf8')),
  );
  expect(profiles).toContain('main.cpuprofile');
  expect(ranking).toHaveLength(2);
  expect(ranking).not.toContain('main.cpuprofile');
  const garbage = readFileSync(join(folder, 'stages.csv'), 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((row) => Number(row.split(',')[2]));
  expect(Math.max(...garbage)).toBeGreaterThan(0);
});

describe('an arm that fails', () => {
  const failing = 'arms.half-life 2.set={bm25: {k: 17, variant: bm25l, k1: 1.7e308}}';

  test('leaves the others a table, without differences, where it is the baseline', async () => {
    const baseline = ['--set', failing, '--set', 'evaluation.baseline=half-life 2', '--arm', 'half-life 1'];
    const { code, stdout, stderr } = await runRagpp(...listProcessRunArgs('baseline', ...baseline));
    expect(stderr).toMatch(/^ragpp: 1 of 2 arms failed; --retry-failed runs them again$/m);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^half-life 1 +1?\.\d{3} \[/m);
    const files = readLastingFiles('baseline');
    const said = 'No arm is compared with the baseline, half-life 2, which failed.';
    for (const name of ['table.md', 'table.tex']) expect(files[name]).toContain(said);
    expect(files['table.csv']).toMatch(/^half-life 1,finished,half-life 2,/m);
    expect(readFileSync(join(findNamedRunFolder('baseline'), 'report.html'), 'utf8')).toContain(said);
    expect(JSON.parse(files['metrics.json'] as string).remarks).toContain(
      'nothing is compared, since the baseline failed: half-life 2',
    );
  });
  const run = (...more: string[]) => runRagpp(...listProcessRunArgs('failing', '--set', failing, ...more));

  test('fails alone in its process, is in the metrics with its error, and makes the exit code 1', async () => {
    const { code, stderr, stdout } = await run('--workers', '2');
    expect(stderr).toMatch(/^ragpp: arm half-life 2 failed \[NOT_FINITE\]: .* is not finite at .*$/m);
    expect(stderr).toMatch(/^ragpp: 1 of 11 arms failed; --retry-failed runs them again$/m);
    expect(code).toBe(1);
    expect(stdout).toContain('report: ');
    const metrics = JSON.parse(readLastingFiles('failing')['metrics.json'] as string);
    expect(metrics.failures).toMatchObject([{ name: 'half-life 2', code: 'NOT_FINITE' }]);
    expect(metrics.arms).toHaveLength(ARMS - 1);
  });

  test('stays failed with --resume, and is all that --retry-failed runs again', async () => {
    const outcomes = listFinishedFiles('failing');
    const [before, files] = [readArmBytes('failing', outcomes), readLastingFiles('failing')];
    expect((await run('--resume')).stderr).toMatch(/^arms: 0 arms /m);
    expect(readArmBytes('failing', outcomes)).toEqual(before);
    const { code, stderr } = await run('--retry-failed');
    expect(stderr).toMatch(/^arms: 1 arms on 14 queries, 1 failed/m);
    expect(code).toBe(1);
    const others = outcomes.filter((file) => !file.endsWith('.failed.json'));
    expect(readArmBytes('failing', others)).toEqual(before.filter((_, i) => others.includes(outcomes[i] as string)));
    expect(readLastingFiles('failing')).toEqual(files);
  });
});

test('of two runs of a config at once the second is refused, with the process that has it; the lock of a killed one is taken over', async () => {
  const first = startRagpp(listProcessRunArgs('both'));
  await awaitFound(() => (listFinishedFiles('both').length > 0 ? true : undefined));
  const work = findWorkProcess(first.pid);
  process.kill(work, 'SIGSTOP');
  const second = await runRagpp(...listProcessRunArgs('both', '--resume'));
  expect(second.code).toBe(1);
  const refusal = `sample-\\w+\\.partial is not available: process ${work} on .* works on it; wait for it, or delete .*lock if it has ended$`;
  expect(second.stderr).toMatch(new RegExp(`^ragpp \\[UNAVAILABLE\\]: run folder .*both.${refusal}`, 'm'));
  process.kill(work, 'SIGKILL');
  await first.ended;
  expect((await runRagpp(...listProcessRunArgs('both'))).code).toBe(0);
  expect(readLastingFiles('both')).toEqual(whole);
});
