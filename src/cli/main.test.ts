import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BlockHeader, decodeHeader, HASH_BYTES, HEADER_BYTES, VECTORS } from '../index/encoders/segments.ts';
import { applyOverrides, type Plain } from '../lab/composition/config-file.ts';
import { PROJECT_ROOT } from '../lab/run/environment.ts';
import { buildSampleConfig, writeSampleJsonl } from '../lab/run/jsonl.fixture.ts';
import { type Ended, startRagpp } from './process.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-main-'));
afterAll(() => rmSync(root, { recursive: true }));
const cache = join(root, 'cache', 'embeddings');
const results = join(root, 'results');

/** Runs the program on its own, and interrupts it once it has written `until`. */
function runAndInterrupt(argv: readonly string[], until?: RegExp): Promise<Ended> {
  let sent = false;
  return startRagpp(argv, (stderr, { kill }) => {
    if (sent || !until?.test(stderr)) return;
    sent = true;
    kill('SIGINT');
  }).ended;
}

const listFilesIn = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' });
const run = ['run', join(root, 'sample.yaml'), '--cache', join(root, 'cache'), '--results', results];

beforeAll(() => {
  writeSampleJsonl(root);
  // Tuning for some seconds, of tensor operations alone.
  const halfLives = Array.from({ length: 211 }, (_, i) => i + 1);
  const overrides = [`arms.unified.tune={decay.halfLifeHours: ${JSON.stringify(halfLives)}}`];
  writeFileSync(join(root, 'sample.yaml'), JSON.stringify(applyOverrides(buildSampleConfig(root) as Plain, overrides)));
});

test('Ctrl-C ends a run where it stands, and what it leaves is whole', async () => {
  const { code, stderr } = await runAndInterrupt(run, /^trajectory: /m);
  expect(stderr).toMatch(
    /\nragpp: interrupted; what was cached stays: a run goes on from there with --resume, a training when it is started again\n$/,
  );
  expect(stderr).not.toMatch(/^arms: /m);
  expect(code).toBe(130);
  const [folder] = readdirSync(results);
  expect(folder).toMatch(/^sample-[0-9a-f]{12}\.partial$/);
  const left = listFilesIn(join(results, folder as string));
  expect(left.filter((name) => name.includes('.')).sort()).toEqual([
    'arms/decayed-2.safetensors',
    'arms/hybrid.safetensors',
    'arms/newest.safetensors',
    'config.yaml',
    'environment.json',
    'state.json',
  ]);
  expect(left).not.toContain('lock');
  const cached = listFilesIn(cache).filter((name) => name.endsWith('.vectors'));
  expect(cached).toHaveLength(2);
  for (const name of cached) {
    const bytes = readFileSync(join(cache, name));
    const { count, dimension } = decodeHeader(VECTORS, bytes.subarray(0, HEADER_BYTES)) as BlockHeader;
    expect(dimension).toBe(13);
    expect(bytes.byteLength).toBe(HEADER_BYTES + count * (HASH_BYTES + 4 * dimension));
  }
});

test('the same command with --resume goes on from there, and finishes', async () => {
  const { code, stderr } = await runAndInterrupt([...run, '--resume']);
  expect(stderr.match(/texts from the cache/g)).toHaveLength(2);
  expect(stderr).toMatch(/^arms: 2 arms on 14 queries/m);
  expect(code).toBe(0);
  expect(readdirSync(results)).toEqual([expect.stringMatching(/^sample-[0-9a-f]{12}$/), 'test-looks.json']);
  expect(listFilesIn(results).filter((name) => name.endsWith('metrics.json'))).toHaveLength(1);
});

test('the exit code of the program is that of the command', async () => {
  const [usage, help] = await Promise.all([runAndInterrupt(['rnu']), runAndInterrupt(['--help'])]);
  expect(usage.code).toBe(2);
  expect(usage.stderr).toContain("unknown command 'rnu'");
  expect(help).toMatchObject({ code: 0, stderr: '' });
});

test('a full device below stdout is an error of one line', () => {
  const command = `${process.execPath} --import tsx src/cli/main.ts --version > /dev/full`;
  const { status, stderr } = spawnSync('sh', ['-c', command], { cwd: PROJECT_ROOT, encoding: 'utf8' });
  expect(stderr).toMatch(/^ragpp: cannot write to stdout: ENOSPC: no space left on device, write; write to .*\n$/);
  expect(status).toBe(1);
});
