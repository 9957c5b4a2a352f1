import { expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors.ts';
import { LocalLauncher } from './local.ts';
import { createLauncher, LAUNCHER_NAMES, type LauncherOptions, launcherOptions } from './registry.ts';
import { SlurmLauncher } from './slurm.ts';

test('every launcher that a config may name is made by its name, and no other is known', () => {
  const classes = { local: LocalLauncher, slurm: SlurmLauncher };
  expect([...LAUNCHER_NAMES].sort()).toEqual(Object.keys(classes));
  for (const name of LAUNCHER_NAMES) {
    const launcher = createLauncher(launcherOptions.parse({ name }));
    expect(launcher).toBeInstanceOf(classes[name]);
    expect(launcher.name).toBe(name);
  }
  expect(launcherOptions.options.map(({ shape }) => shape.name.value).sort()).toEqual(Object.keys(classes));
});

test.each([[{ name: 'ssh' }], [{}], [{ name: 'local', partition: 'main' }], [{ name: 'slurm', worker: 3 }]])(
  '%o is refused',
  (options) => {
    expect(launcherOptions.safeParse(options).success).toBe(false);
    expect(() => createLauncher(options as unknown as LauncherOptions)).toThrow(ConfigurationError);
  },
);
