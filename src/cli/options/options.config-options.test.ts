import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { type LauncherOptions, launcherOptions } from '../../lab/launch/registry.ts';
import { buildSampleConfig } from '../../lab/run/jsonl.fixture.ts';
import { chosenLauncher, openChangedConfig, typedChanges } from '../actions/changed-config.ts';
import { type ConfigChanges, withConfigChanges } from './options.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-options-'));
afterAll(() => rmSync(root, { recursive: true }));
const path = join(root, 'sample.yaml');
writeFileSync(path, JSON.stringify(buildSampleConfig(root)));

const parseChangeFlags = (...argv: string[]) =>
  withConfigChanges(new Command()).parse(argv, { from: 'user' }).opts<Required<ConfigChanges>>();

test('a config is overridden, then cut down to some arms and queries', async () => {
  const config = await openChangedConfig(
    path,
    parseChangeFlags('--set', 'seed=9', '--arm', 'unified', '--limit-queries', '7'),
  );
  expect(config.seed).toBe(9);
  expect(config.evaluation.limitQueries).toBe(7);
  expect(config.only).toEqual(['hybrid', 'unified']);
  const whole = await openChangedConfig(path, parseChangeFlags());
  expect(whole.evaluation.limitQueries).toBeNull();
  expect(whole.only).toBeNull();
});

test('--limit-queries goes before what is set', async () => {
  const changes = parseChangeFlags('--limit-queries', '7', '--set', 'evaluation.limitQueries=11');
  expect((await openChangedConfig(path, changes)).evaluation.limitQueries).toBe(7);
});

test('--race turns on the race of the config, or the one by default', async () => {
  expect((await openChangedConfig(path, parseChangeFlags())).evaluation.race).toBeNull();
  expect((await openChangedConfig(path, parseChangeFlags('--race'))).evaluation.race).toEqual({
    confidence: 0.99,
    rounds: 4,
  });
  const own = parseChangeFlags('--race', '--set', 'evaluation.race={rounds: 3}');
  expect((await openChangedConfig(path, own)).evaluation.race).toEqual({ confidence: 0.99, rounds: 3 });
  expect(typedChanges(parseChangeFlags('--race'))).toEqual(['--race']);
});

test('--controls adds the null controls of the arms that are run', async () => {
  const names = (await openChangedConfig(path, parseChangeFlags('--controls', '--arm', 'unified')))
    .only as readonly string[];
  expect(names.slice(0, 2)).toEqual(['hybrid', 'unified']);
  expect(names).toContain('unified | control: permuted-order');
  expect(names.every((name) => /^(hybrid|unified)( \| control: |$)/.test(name))).toBe(true);
  expect(typedChanges(parseChangeFlags('--controls'))).toEqual(['--controls']);
});

test.each([
  [['--limit-queries', 'few'], /evaluation\.limitQueries \(--set\): expected number, got "few"/],
  [['--limit-queries', '1'], /evaluation\.limitQueries \(--set\): expected number >= 2, got 1/],
  [
    ['--arm', 'unfied'],
    /1 error in --arm; correct and run again:\n {2}--arm: expected an arm of sample, got "unfied"; did you mean unified\?$/,
  ],
])('%j is an error', (argv, message) => {
  return expect(openChangedConfig(path, parseChangeFlags(...argv))).rejects.toThrow(message);
});

test('the changes can be typed again', () => {
  const argv = ['--set', 'seed=9', '--set', 'arms.hybrid.tune={}', '--arm', 'Decayed × 2', '--limit-queries', '7'];
  expect(typedChanges(parseChangeFlags(...argv))).toEqual(argv);
  expect(typedChanges(parseChangeFlags())).toEqual([]);
});

const slurm = launcherOptions.parse({ name: 'slurm', partition: 'short', workers: 7 });
const bareSlurm = launcherOptions.parse({ name: 'slurm' });
const local = launcherOptions.parse({ name: 'local', workers: 3 });

test.each<[string, LauncherOptions, object, object]>([
  ['nothing chosen', slurm, {}, slurm],
  ['the same by name keeps its options', slurm, { launcher: 'slurm' }, slurm],
  ['another has its own defaults', slurm, { launcher: 'local' }, { name: 'local', workers: 1 }],
  ['workers of the configured one', local, { workers: '5' }, { name: 'local', workers: 5 }],
  ['workers of another', local, { launcher: 'slurm', workers: '5' }, { ...bareSlurm, workers: 5 }],
  ['options over those of the config', slurm, { launcher: '{partition: long}' }, { ...slurm, partition: 'long' }],
  ['options of another', local, { launcher: '{name: slurm, time: "30"}' }, { ...bareSlurm, time: '30' }],
])('%s', (_, configured, choice, expected) => {
  expect(chosenLauncher(configured, choice)).toEqual(expected);
});

test.each([
  [{ launcher: 'slrum' }, /launcher\.name: expected "local" or "slurm" or "queue", got "slrum"; did you mean slurm\?/],
  [{ workers: 'many' }, /launcher\.workers: expected .*number.*got NaN/],
  [{ workers: '0' }, /launcher\.workers: expected number >= 1, got 0/],
  [{ launcher: '{name: slurm, partion: x}' }, /launcher\.partion: expected .*did you mean partition\?/],
  [
    { launcher: '{name: slurm' },
    /^1 error in --launcher; correct and run again:\n {2}line 1, column \d+: expected valid YAML/,
  ],
])('%o is refused', (choice, message) => {
  expect(() => chosenLauncher(local, choice)).toThrow(ConfigurationError);
  expect(() => chosenLauncher(local, choice)).toThrow(message);
});
