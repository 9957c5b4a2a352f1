import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ConfigurationError } from '../../src/core/errors/errors.ts';
import { writeSampleJsonl } from '../../src/lab/run/jsonl.fixture.ts';
import { createStudyCommand } from '../study.ts';
import type { TaskResult } from './measure.ts';
import { priorCalibration } from './study.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-priors-'));
afterAll(() => rmSync(folder, { recursive: true }));
const run = createStudyCommand(priorCalibration);
const set = (...settings: string[]) => settings.flatMap((setting) => ['--set', setting]);

let made: string;
let tasks: readonly TaskResult[];
const read = (name: string) => readFileSync(join(made, name), 'utf8');
beforeAll(async () => {
  const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const shown = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const data = join(folder, 'data');
  mkdirSync(data);
  writeSampleJsonl(data);
  const small = set(
    'everyMail=11',
    `dataset={name: jsonl, path: ${data}}`,
    'answerHours=2',
    'embedding={encoder: lsa, dimension: 23}',
    'neighbours=[3, 7]',
    'powers=[2]',
    'kappas=[1]',
    'samples=200',
  );
  try {
    await run(['--backend', 'wasm', '--cache', join(folder, 'cache'), '--results', join(folder, 'runs'), ...small]);
  } finally {
    printed.mockRestore();
    shown.mockRestore();
  }
  made = join(folder, 'runs', readdirSync(join(folder, 'runs'))[0] as string);
  tasks = (JSON.parse(read('metrics.json')) as { tasks: TaskResult[] }).tasks;
});

test('leaves its files, with a panel for each task', () => {
  const files = ['config.yaml', 'environment.json', 'figure.json', 'metrics.json', 'report.html', 'table.md'];
  expect(readdirSync(made).sort()).toEqual(files);
  const { data } = JSON.parse(read('figure.json')) as { data: { xaxis: string; name?: string }[] };
  expect(new Set(data.map(({ xaxis }) => xaxis))).toEqual(new Set(['x', 'x2', 'x3']));
  expect(read('report.html')).toContain('Experiment prior-calibration (');
  expect(read('table.md')).toContain('| prior ');
});

test('neighbours know ham from spam, with near-duplicates and without', () => {
  expect(tasks.map(({ name }) => name)).toEqual(['ham', 'ham, no near-duplicates', 'answered']);
  for (const { arms } of tasks.slice(0, 2)) {
    const prior = arms.find(({ name }) => name === 'prior');
    expect(prior?.differences['base rate']?.difference.mean).toBeLessThan(-0.02);
    expect(prior?.coverage?.rate.mean).toBeLessThanOrEqual(1);
  }
  const [all, firsts] = tasks as [TaskResult, TaskResult];
  expect(all.turns - firsts.turns).toBe(all.facts['near-duplicates']);
});

test('settings that cannot be are refused before any work', async () => {
  await expect(run(set('kappas=[0]', 'neighbour=3'))).rejects.toThrow(ConfigurationError);
});
