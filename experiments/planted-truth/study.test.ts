import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ConfigurationError } from '../../src/core/errors/errors.ts';
import { drawPlantedConversations } from '../../src/data/synthetic/planted-conversations.ts';
import { buildPlantedDataset } from '../../src/data/synthetic/synthetic.ts';
import { assertSignalContract } from '../../src/lab/workbench/signal-contract.ts';
import { createStudyCommand } from '../study.ts';
import type { PlantedComparison } from './comparisons.ts';
import { pageRankPlugin } from './page-rank-signal.ts';
import { plantedTruth } from './study.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-planted-'));
afterAll(() => rmSync(folder, { recursive: true }));
const run = createStudyCommand(plantedTruth);
const set = (...settings: string[]) => settings.flatMap((setting) => ['--set', setting]);

let comparisons: readonly PlantedComparison[];
let files: readonly string[];
beforeAll(async () => {
  const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const shown = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const small = set('datasets=1', 'conversations=60', 'strengths=[1]', 'samples=2000', 'dependencies=[time, thread]');
  try {
    await run(['--backend', 'wasm', '--cache', join(folder, 'cache'), '--results', join(folder, 'runs'), ...small]);
  } finally {
    printed.mockRestore();
    shown.mockRestore();
  }
  const made = join(folder, 'runs', readdirSync(join(folder, 'runs'))[0] as string);
  files = readdirSync(made).sort();
  comparisons = (JSON.parse(readFileSync(join(made, 'metrics.json'), 'utf8')) as { comparisons: PlantedComparison[] })
    .comparisons;
});

const find = (arm: string, dependency: string) =>
  comparisons.find((one) => one.arm === arm && one.dependency === dependency) as PlantedComparison;

test('leaves the files of a study and a table for spreadsheets', () => {
  expect(files).toEqual(['config.yaml', 'environment.json', 'metrics.json', 'table.csv', 'table.md']);
});

test('time decay recovers time, and not the thread', () => {
  expect(find('time decay', 'time')).toMatchObject({ verdict: 'better', queries: 18 });
  expect(find('time decay', 'time').difference.mean).toBeGreaterThan(0.3);
  expect(find('time decay', 'thread').verdict).not.toBe('better');
});

test('published propagation changes nothing', () => {
  for (const dependency of ['time', 'thread'])
    expect(Math.abs(find('propagation, published', dependency).difference.mean)).toBeLessThan(0.02);
});

test('settings that cannot be are refused before any work', async () => {
  await expect(run(set('strengths=[2]', 'conversation=3'))).rejects.toThrow(ConfigurationError);
});

test('PageRank keeps the contract of a signal', async () => {
  const data = buildPlantedDataset(drawPlantedConversations({ conversations: 7, dependencies: ['entity'] }));
  await assertSignalContract(pageRankPlugin, 'pagerank', { data });
});
