import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import { merge, parseYaml } from '../../lab/composition/config-file.ts';
import { type LauncherOptions, launcherOptions } from '../../lab/launch/registry.ts';
import type { LauncherChoice } from '../options/launcher-choice.ts';

/** The config's launcher, or the chosen one with the options that the config has for it. @throws ConfigurationError with all faults at once. */
export function chosenLauncher(configured: LauncherOptions, { launcher, workers }: LauncherChoice): LauncherOptions {
  const typed = launcher?.trimStart().startsWith('{') ? parseYaml(launcher, '--launcher') : { name: launcher };
  const chosen = launcher === undefined ? {} : typed;
  const isOther = chosen.name !== undefined && chosen.name !== configured.name;
  const options = merge(
    merge(isOther ? {} : configured, chosen),
    workers === undefined ? {} : { workers: Number(workers) },
  );
  return parse(z.object({ launcher: launcherOptions }), { launcher: options }, 'the command line').launcher;
}
