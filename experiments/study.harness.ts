import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { stringify } from 'yaml';
import { buildSampleConfig, writeSampleJsonl } from '../src/lab/run/jsonl.fixture.ts';

/** Runs a study on the small corpus. @returns its figures and its table. */
export async function runStudy(
  command: (args: readonly string[]) => Promise<void>,
  name: string,
  ...settings: string[]
) {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-studies-'));
  try {
    return await runIn(folder, command, name, settings);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function runIn(
  folder: string,
  command: (args: readonly string[]) => Promise<void>,
  name: string,
  settings: readonly string[],
) {
  const config = join(folder, 'sample.yaml');
  mkdirSync(join(folder, 'data'));
  writeSampleJsonl(join(folder, 'data'));
  writeFileSync(config, stringify(buildSampleConfig(join(folder, 'data'))));
  const results = join(folder, name);
  const set = [`config=${config}`, ...settings].flatMap((setting) => ['--set', setting]);
  const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const shown = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    await command(['--cache', join(folder, 'cache'), '--results', results, '--backend', 'wasm', ...set]);
  } finally {
    printed.mockRestore();
    shown.mockRestore();
  }
  const [made] = readdirSync(results) as [string];
  expect(readdirSync(join(results, made)).sort()).toEqual([
    'config.yaml',
    'environment.json',
    'metrics.json',
    'table.md',
  ]);
  const read = (file: string) => readFileSync(join(results, made, file), 'utf8');
  expect(read('config.yaml')).toContain('seed: 20260101');
  expect(read('table.md')).toContain(`npm run experiment -- ${name} --cache`);
  return { figures: JSON.parse(read('metrics.json')) as Record<string, unknown>, table: read('table.md') };
}
