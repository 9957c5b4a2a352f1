import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSafetensors } from '../core/safetensors.ts';
import { applyOverrides, type Plain } from '../experiment/config-file.ts';
import { PROJECT_ROOT } from '../experiment/environment.ts';
import { sampleConfig, writeSampleJsonl } from '../experiment/sample-jsonl.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-main-'));
afterAll(() => rmSync(root, { recursive: true }));
const cache = join(root, 'cache', 'embeddings');
const results = join(root, 'results');

interface Ended {
  readonly code: number | null;
  readonly stderr: string;
}

/** Runs the program on its own, and interrupts it once it has written `until`. */
function ragpp(argv: readonly string[], until?: RegExp): Promise<Ended> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', ...argv], { cwd: PROJECT_ROOT });
  let stderr = '';
  let sent = false;
  child.stdout.resume();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    if (!sent && until?.test(stderr)) sent = child.kill('SIGINT');
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stderr }));
  });
}

const filesIn = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' });
const run = ['run', join(root, 'sample.yaml'), '--cache', join(root, 'cache'), '--results', results];

beforeAll(() => {
  writeSampleJsonl(root);
  // Tuning for some seconds, of tensor operations alone.
  const halfLives = Array.from({ length: 211 }, (_, i) => i + 1);
  const overrides = [`arms.unified.tune={decay.halfLifeHours: ${JSON.stringify(halfLives)}}`];
  writeFileSync(join(root, 'sample.yaml'), JSON.stringify(applyOverrides(sampleConfig(root) as Plain, overrides)));
});

test('Ctrl-C ends a run where it stands, and what it leaves is whole', async () => {
  const { code, stderr } = await ragpp(run, /^trajectory: /m);
  expect(stderr).toMatch(/\nragpp: interrupted; what was cached stays, so the same command goes on from there\n$/);
  expect(stderr).not.toMatch(/^tuning: /m);
  expect(code).toBe(130);
  expect(filesIn(results)).toEqual([]);
  const cached = filesIn(cache);
  expect(cached).toHaveLength(1);
  expect(readSafetensors(join(cache, cached[0] as string), '').tensors.rows?.shape[1]).toBe(13);
});

test('the same command goes on from there, and finishes', async () => {
  const { code, stderr } = await ragpp(run);
  expect(stderr.match(/texts from the cache/g)).toHaveLength(1);
  expect(stderr.match(/texts embedded/g)).toHaveLength(1);
  expect(code).toBe(0);
  expect(filesIn(results).filter((name) => name.endsWith('metrics.json'))).toHaveLength(1);
  expect(filesIn(results).filter((name) => /writing|replaced/.test(name))).toEqual([]);
});

test('the exit code of the program is that of the command', async () => {
  const [usage, help] = await Promise.all([ragpp(['rnu']), ragpp(['--help'])]);
  expect(usage.code).toBe(2);
  expect(usage.stderr).toContain("unknown command 'rnu'");
  expect(help).toMatchObject({ code: 0, stderr: '' });
});
