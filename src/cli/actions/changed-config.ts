import { selectArms } from '../../lab/config/arm-selection.ts';
import { type ExperimentConfig, openConfig } from '../../lab/config/config.ts';
import { RACE_DEFAULTS } from '../../lab/config/config-schema.ts';
import type { ConfigChanges } from '../options/config-options.ts';

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
