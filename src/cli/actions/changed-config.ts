import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import { merge, parseYaml } from '../../lab/composition/config-file.ts';
import { selectArms } from '../../lab/config/arm-selection.ts';
import { type ExperimentConfig, openConfig } from '../../lab/config/config.ts';
import { RACE_DEFAULTS } from '../../lab/config/config-schema.ts';
import { type LauncherOptions, launcherOptions } from '../../lab/launch/registry.ts';
import type { ConfigChanges, LauncherChoice } from '../options/options.ts';

/** A race of the config's own settings, or of the defaults. */
function raced(config: ExperimentConfig): ExperimentConfig {
  const { evaluation } = config;
  return { ...config, evaluation: { ...evaluation, race: evaluation.race ?? RACE_DEFAULTS } };
}

/** The config that a command is about, with its plugins. @throws ConfigurationError with all faults at once. */
export async function openChangedConfig(
  path: string,
  { set, arm, limitQueries, race, controls, dataset }: ConfigChanges,
): Promise<ExperimentConfig> {
  const limit = limitQueries === undefined ? [] : [`evaluation.limitQueries=${limitQueries}`];
  const control = controls === true ? ['controls=true'] : [];
  const config = selectArms(await openConfig(path, [...set, ...limit, ...control], dataset ?? null), arm);
  return race === true ? raced(config) : config;
}

/** The words that the changes would be typed again as, not quoted yet. */
export function typedChanges({ set, arm, limitQueries, race, controls, dataset }: ConfigChanges): string[] {
  return [
    ...set.flatMap((override) => ['--set', override]),
    ...arm.flatMap((name) => ['--arm', name]),
    ...(limitQueries === undefined ? [] : ['--limit-queries', limitQueries]),
    ...(dataset === undefined ? [] : ['--dataset', dataset]),
    ...(race === true ? ['--race'] : []),
    ...(controls === true ? ['--controls'] : []),
  ];
}

/**
 * The config's launcher, or the chosen one with the options that the config has for it.
 *
 * @throws ConfigurationError with all faults at once.
 */
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
