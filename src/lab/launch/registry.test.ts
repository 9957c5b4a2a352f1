import { expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { LocalLauncher } from './local.ts';
import { QueueLauncher } from './queue.ts';
import { createLauncher, LAUNCHERS, type LauncherOptions, launcherOptions } from './registry.ts';
import { SlurmLauncher } from './slurm.ts';

test('every launcher that a config may name is made by its name, and no other is known', async () => {
  const classes = { local: LocalLauncher, queue: QueueLauncher, slurm: SlurmLauncher };
  const needed = { local: {}, queue: { queue: 'postgres://host/database' }, slurm: {} };
  expect([...LAUNCHERS.names].sort()).toEqual(Object.keys(classes));
  for (const name of LAUNCHERS.names) {
    const launcher = await createLauncher(launcherOptions.parse({ name, ...needed[name] }));
    expect(launcher).toBeInstanceOf(classes[name]);
    expect(launcher.name).toBe(name);
  }
  expect(launcherOptions.options.map(({ shape }) => shape.name.value).sort()).toEqual(Object.keys(classes));
});

test.each([
  [{ name: 'ssh' }],
  [{}],
  [{ name: 'local', partition: 'main' }],
  [{ name: 'slurm', worker: 3 }],
  [{ name: 'queue' }],
])('%o is refused', async (options) => {
  expect(launcherOptions.safeParse(options).success).toBe(false);
  await expect(createLauncher(options as unknown as LauncherOptions)).rejects.toThrow(ConfigurationError);
});
