import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { DeviceReport } from './device.ts';
import { benchPack, packBench } from './pack.ts';

interface Written {
  readonly environment: { readonly backend: string };
}

const env = { PATH: '/usr/bin:/bin' };

/** Starts a folder and presses Ctrl-C while it unpacks a file beside its `run`. */
async function interrupt(out: string): Promise<void> {
  const child = spawn(join(out, 'run'), { env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.resume();
  const closed = once(child, 'close');
  while (child.exitCode === null && !readdirSync(out).some((name) => name.endsWith('.part'))) await setTimeout(1);
  process.kill(-child.pid!, 'SIGINT');
  await closed;
}

test('a folder verifies and measures wasm from an empty folder, without Node on the path, also after an interrupted start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-pack-'));
  try {
    const [out, cwd] = [join(folder, 'packed'), join(folder, 'empty')];
    expect(await packBench('wasm', out)).toBeLessThanOrEqual(60e6);
    await interrupt(out);
    expect(readdirSync(out).sort()).toEqual(['node.gz', 'pack.json', 'program', 'run']);
    mkdirSync(cwd);
    const results = join(folder, 'results');
    const { status, stdout, stderr } = spawnSync(join(out, 'run'), ['--out', results, '--size', 'tiny', '--torch'], {
      ...{ cwd, encoding: 'utf8', env },
    });
    expect(stderr.split('\n')).toContain('the same on cpu');
    expect(status, stderr).toBe(0);
    const read = (name: string) => JSON.parse(readFileSync(join(results, name), 'utf8')) as Written;
    const verified = read('verify.json') as Written & { readonly pass: boolean; readonly topics: readonly unknown[] };
    expect(verified).toMatchObject({ pass: true, environment: { backend: 'wasm', node: process.version } });
    expect(verified.topics.length).toBeGreaterThan(20);
    const device = read('device.json') as Written & DeviceReport;
    expect(device.rows).toHaveLength(10);
    for (const { workload } of device.rows) expect(stdout).toContain(workload);
    const torch = read('torch.json') as Written & { readonly missing?: string; readonly matmulRate?: number };
    if (torch.missing === undefined) expect(torch.matmulRate).toBeGreaterThan(0);
    else expect(stdout).toContain(`torch was not measured: ${torch.missing}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a folder that is there, and none, are errors', async () => {
  await expect(packBench('wasm', tmpdir())).rejects.toThrow('folder is there already');
  await expect(benchPack(['--backend', 'wasm'])).rejects.toThrow('use pack --backend webgpu OUT');
  await expect(benchPack(['--backend', 'cuda', 'x'])).rejects.toThrow('unknown --backend: cuda; use webgpu, wasm, cpu');
});
