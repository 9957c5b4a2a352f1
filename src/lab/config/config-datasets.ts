import { ConfigurationError, type ConfigurationFault } from '../../core/errors/errors.ts';
import { shortenToExcerpt, suggestKnown } from '../../core/validation/validation.ts';
import type { ComposedConfig, DatasetPaths } from '../composition/config-composition.ts';
import { isPlain, type Path, type Plain } from '../composition/config-file.ts';
import { locateFaults } from './config-faults.ts';

/** One of several datasets. */
interface WrittenDataset {
  readonly name: string;
  readonly options: unknown;
  /** Where it is written. */
  readonly path: Path;
}

const FACTOR: Path = ['sweep', 'factors', 'dataset'];

/** The factor `dataset` of a sweep; undefined if it has none. */
function getDatasetFactor({ sweep }: Plain): unknown {
  return isPlain(sweep) && isPlain(sweep.factors) ? sweep.factors.dataset : undefined;
}

/** A dataset that a factor names: one of `datasets`, or one that needs no options. */
function readNamedDataset(name: unknown, index: number, { datasets }: Plain): WrittenDataset {
  const known = isPlain(datasets) ? datasets : {};
  const word = String(name);
  if (Object.hasOwn(known, word)) return { name: word, options: known[word], path: ['datasets', word] };
  return { name: word, options: { name }, path: [...FACTOR, String(index)] };
}

const listWritten = (datasets: Plain, path: Path): WrittenDataset[] =>
  Object.entries(datasets).map(([name, options]) => ({ name, options, path: [...path, name] }));

/** The datasets of a config that has several, from the factor of its sweep or from `datasets`; null for a config of one dataset. */
function listDatasets({ content }: ComposedConfig): WrittenDataset[] | null {
  const factor = getDatasetFactor(content);
  if (Array.isArray(factor)) return factor.map((name, index) => readNamedDataset(name, index, content));
  if (isPlain(factor)) return listWritten(factor, FACTOR);
  return isPlain(content.datasets) ? listWritten(content.datasets, ['datasets']) : null;
}

/** The names of the datasets of a config that has several; null for a config of one dataset. */
export function listDatasetNames(composed: ComposedConfig): string[] | null {
  return listDatasets(composed)?.map(({ name }) => name) ?? null;
}

/** Where the datasets are listed. */
function findListPath({ content }: ComposedConfig): string {
  return getDatasetFactor(content) === undefined ? 'datasets' : FACTOR.join('.');
}

/** A factor that is no list of names where `datasets` has the datasets. */
function findFactorFaults({ content }: ComposedConfig): ConfigurationFault[] {
  const factor = getDatasetFactor(content);
  if (factor === undefined || Array.isArray(factor) || !isPlain(content.datasets)) return [];
  const got = `${shortenToExcerpt(factor)} beside datasets`;
  return [{ path: FACTOR.join('.'), expected: 'a list of names of datasets', got }];
}

/** Errors of the datasets as a whole. */
function findDatasetFaults(composed: ComposedConfig, datasets: readonly WrittenDataset[]): ConfigurationFault[] {
  const path = findListPath(composed);
  const names = datasets.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  const lost = composed.overridden.find(([first]) => first === 'dataset');
  const [first] = datasets;
  const faults = findFactorFaults(composed);
  if (first === undefined) faults.push({ path, expected: 'at least one dataset', got: 'none; add one' });
  if (twice !== undefined) faults.push({ path, expected: 'each dataset once', got: `${JSON.stringify(twice)} twice` });
  if (lost !== undefined && first !== undefined) {
    const expected = `a dataset by its name, such as ${[...first.path, ...lost.slice(1)].join('.')}`;
    faults.push({ path: lost.join('.'), expected, got: 'no name' });
  }
  return faults;
}

/** The sweep of the arms of one dataset: without the factor `dataset`; null if nothing else varies. */
export function selectArmSweep({ content, datasetPaths }: ComposedConfig): unknown {
  const { sweep } = content;
  if (datasetPaths === undefined || !isPlain(sweep) || !isPlain(sweep.factors)) return sweep;
  const { dataset: _, ...factors } = sweep.factors;
  return Object.keys(factors).length === 0 ? null : { ...sweep, factors };
}

/** The experiment of one dataset, with the dataset's name in its own. */
function selectDataset(
  composed: ComposedConfig,
  datasets: readonly WrittenDataset[],
  chosen: WrittenDataset,
): ComposedConfig {
  const { content } = composed;
  const datasetPaths: DatasetPaths = {
    chosen: chosen.path,
    byName: new Map(datasets.map(({ name, path }) => [name, path])),
  };
  const name = typeof content.name === 'string' ? `${content.name}-${chosen.name}` : content.name;
  const all = Object.fromEntries(datasets.map((one) => [one.name, one.options]));
  return { ...composed, content: { ...content, name, dataset: chosen.options, datasets: all }, datasetPaths };
}

/**
 * The experiment of one dataset of a config that has several, with the dataset's name in its own.
 *
 * @param chosen null for a config of one dataset
 * @throws ConfigurationError where the dataset has to be chosen, cannot be, or is unknown.
 */
export function chooseDataset(composed: ComposedConfig, chosen: string | null): ComposedConfig {
  const datasets = listDatasets(composed);
  if (datasets === null && chosen === null) return composed;
  const fail = (...faults: ConfigurationFault[]) =>
    new ConfigurationError(composed.source, locateFaults(faults, { composed, arms: [] }));
  if (datasets === null)
    throw fail({
      path: 'datasets',
      expected: `datasets, of which ${chosen} is one`,
      got: 'nothing; leave out --dataset',
    });
  const faults = findDatasetFaults(composed, datasets);
  if (faults.length > 0) throw fail(...faults);
  const names = datasets.map(({ name }) => name);
  const path = findListPath(composed);
  if (chosen === null) {
    const expected = `a choice of one (${names.join(', ')})`;
    throw fail({ path, expected, got: 'none; add --dataset NAME, or use ragpp run' });
  }
  const found = datasets.find(({ name }) => name === chosen);
  if (found === undefined) throw fail({ path, expected: suggestKnown(chosen, names), got: JSON.stringify(chosen) });
  return selectDataset(composed, datasets, found);
}
