import { ConfigurationError } from '../../core/errors.ts';
import { suggestKnown } from '../../core/validation.ts';
import type { ComposedConfig } from './config-composition.ts';
import { isPlain } from './config-file.ts';

/** The names of the datasets of a config that has several; null for a config of one dataset. */
export function listDatasetNames({ content: { datasets } }: ComposedConfig): string[] | null {
  return isPlain(datasets) ? Object.keys(datasets) : null;
}

/**
 * The experiment of one dataset of a config that has several, with the dataset's name in its own.
 *
 * @param chosen null for a config of one dataset
 * @throws ConfigurationError where the dataset has to be chosen, cannot be, or is unknown.
 */
export function chooseDataset(composed: ComposedConfig, chosen: string | null): ComposedConfig {
  const names = listDatasetNames(composed);
  if (names === null && chosen === null) return composed;
  const { content, source } = composed;
  const path = 'datasets';
  if (names === null)
    throw new ConfigurationError(source, [
      { path, expected: `datasets, of which ${chosen} is one`, got: 'nothing; leave out --dataset' },
    ]);
  if (chosen === null)
    throw new ConfigurationError(source, [
      { path, expected: `a choice of one (${names.join(', ')})`, got: 'none; add --dataset NAME, or use ragpp run' },
    ]);
  if (!names.includes(chosen))
    throw new ConfigurationError(source, [
      { path, expected: suggestKnown(chosen, names), got: JSON.stringify(chosen) },
    ]);
  const { datasets, ...rest } = content;
  const name = typeof content.name === 'string' ? `${content.name}-${chosen}` : content.name;
  return { ...composed, content: { ...rest, name, dataset: (datasets as Record<string, unknown>)[chosen] } };
}
