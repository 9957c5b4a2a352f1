import { expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { type LauncherOptions, launcherOptions } from '../../lab/launch/registry.ts';
import { chosenLauncher } from '../actions/run.ts';

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
  [{ launcher: 'slrum' }, /launcher\.name: expected "local" or "slurm", got "slrum"; did you mean slurm\?/],
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
