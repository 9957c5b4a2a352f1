import { z } from 'zod';
import { ConfigurationError, type ConfigurationFault } from '../../core/errors/errors.ts';
import { check, shortenToExcerpt, suggestKnown } from '../../core/validation/validation.ts';
import { setDataFolder } from '../../data/prepared/prepared.ts';
import { datasetOptions } from '../../data/registry.ts';
import {
  ARMS_BY_NAME,
  areResolvedArms,
  type ExpandedArm,
  type ExpandedArms,
  FORMER_TRAINING_KEYS,
  findArmValuePath,
  findTopReplacement,
  readResolvedArms,
  withoutSharedOptions,
} from '../composition/arms.ts';
import {
  type ComposedConfig,
  composeFiles,
  type DatasetPaths,
  findWriterFolder,
  wrapContent,
} from '../composition/config-composition.ts';
import { isPlain, type Path, type Plain } from '../composition/config-file.ts';
import { expandNamedArms } from '../composition/named-arms.ts';
import { findValueFaults } from '../composition/yaml-text.ts';
import { installConfigPlugins, NO_PLUGINS, resolvePlugins } from '../plugins/config-plugins.ts';
import { findUnnamedPlugins, listExperimentMembers } from '../plugins/named-members.ts';
import { INSTALLED } from '../plugins/resolved-plugin.ts';
import { expandSweep, NO_SWEEP } from '../sweep/sweep.ts';
import { findFittedArm, hasFit, withRepetitions } from './arm-selection.ts';
import {
  findControlFaults,
  findDatasetPath,
  findDuplicateNames,
  findNameFaults,
  findSizeFaults,
  findTuneFaults,
  locateFaults,
} from './config-faults.ts';
import { type ExperimentConfig, expandedFile } from './config-schema.ts';
import { findPlaceboFaults, withControls, withPlacebos } from './control-arms.ts';
import {
  noteEncoderFolder,
  withEncoderFiles,
  withPolicyFile,
  withSourceFiles,
  withWeightFiles,
} from './file-references.ts';
import { findFitFaults, HAND_TUNED_ARM, withFitDefaults, withFoldsFile } from './fitted-arm.ts';

export type { ArmOptions } from './config-schema.ts';
export { configFile, type ExperimentConfig, experimentConfig } from './config-schema.ts';

/** One of several datasets. */
interface WrittenDataset {
  readonly name: string;
  readonly options: unknown;
  /** The path at which the dataset is written. */
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

/**
 * The datasets of a config that has several, from the factor of its sweep or from `datasets`; null for a config of one
 * dataset.
 */
function listDatasets({ content }: ComposedConfig): WrittenDataset[] | null {
  const factor = getDatasetFactor(content);
  if (Array.isArray(factor)) return factor.map((name, index) => readNamedDataset(name, index, content));
  if (isPlain(factor)) return listWritten(factor, FACTOR);
  return isPlain(content.datasets) ? listWritten(content.datasets, ['datasets']) : null;
}

/** The path of the list of datasets. */
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
function selectArmSweep({ content, datasetPaths }: ComposedConfig): unknown {
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
function chooseDataset(composed: ComposedConfig, chosen: string | null): ComposedConfig {
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

/** Finds the folder of the file that wrote a value of an arm: relative names are relative to it. */
function createFolderFinder(arm: ExpandedArm, composed: ComposedConfig): (keys: Path) => string | null {
  return (keys) => {
    const keyPath = findArmValuePath(arm, keys);
    return keyPath === undefined ? null : findWriterFolder(keyPath, composed);
  };
}

/**
 * An arm with the content of the files that it names: those of its encoder, weights, run files, policy and folds.
 *
 * @param shared the encoder of the experiment
 */
function withFiles(options: Plain, expanded: ExpandedArm, composed: ComposedConfig, shared: unknown) {
  const folderOf = createFolderFinder(expanded, composed);
  const tuned = isPlain(options.tune) ? Object.keys(options.tune) : [];
  const findFolder = (key: string) => folderOf(['embedding', key]);
  const embedding = withEncoderFiles(
    options.embedding,
    findFolder,
    tuned.map((path) => path.replace(/^embedding\./, '')),
  );
  const encoded = embedding === undefined ? options : { ...options, embedding };
  const weighed = withWeightFiles(encoded, { folderOf, embedding: embedding ?? shared });
  const found = withSourceFiles(weighed.arm, folderOf);
  const sliced = withPolicyFile(found.arm, folderOf);
  const folded = hasFit(sliced.arm) ? withFoldsFile(sliced.arm, folderOf) : { arm: sliced.arm, faults: [] };
  return { arm: folded.arm, faults: [...weighed.faults, ...found.faults, ...sliced.faults, ...folded.faults] };
}

/** Arms by their names, or those of a config that was written out before. */
function readArms(arms: unknown, shared: Plain): ExpandedArms {
  if (isPlain(arms)) return expandNamedArms(arms, shared);
  if (areResolvedArms(arms)) return readResolvedArms(arms, shared);
  if (!Array.isArray(arms)) return { arms: [], faults: [], unread: new Set() };
  const fault = { path: 'arms', expected: ARMS_BY_NAME, got: 'a list' };
  return { arms: [], faults: [fault], unread: new Set(['arms']) };
}

/** Keys of earlier experiments and trainings. */
const FORMER_KEYS: readonly string[] = ['base', 'scoring', ...FORMER_TRAINING_KEYS];

/** Keys at the top whose place an arm has. */
function findFormerKeys(content: Plain): ConfigurationFault[] {
  return FORMER_KEYS.filter((key) => content[key] !== undefined).map((path) => ({
    path,
    expected: `${findTopReplacement(path)}`,
    got: `the key ${JSON.stringify(path)}`,
  }));
}

/**
 * The arms of a composed config, written out, and the config that they are in; the probes of a sweep follow the `count`
 * arms that are run. `unread` are the places whose weight files can't be used.
 */
function expandComposed(composed: ComposedConfig) {
  const content = Object.fromEntries(Object.entries(composed.content).filter(([key]) => !FORMER_KEYS.includes(key)));
  const seed = Number.isInteger(content.seed) ? (content.seed as number) : 1;
  const shared = { ...(isPlain(content.embedding) ? { embedding: content.embedding } : {}), seed };
  const written = readArms(content.arms, shared);
  const rawSweep = selectArmSweep(composed) ?? null;
  const sweep = rawSweep === null ? NO_SWEEP : expandSweep(rawSweep, written.arms, seed);
  const arms = [...written.arms, ...sweep.arms, ...sweep.probes].map(withoutSharedOptions);
  const embedding = withEncoderFiles(content.embedding, (key) => findWriterFolder(['embedding', key], composed));
  const weighed = arms.map((arm) => (isPlain(arm.options) ? withFiles(arm.options, arm, composed, embedding) : null));
  const options = arms.map((arm, i) => weighed[i]?.arm ?? arm.options);
  const encoded = embedding === undefined ? content : { ...content, embedding };
  const config = {
    ...(options.some(hasFit) ? withFitDefaults(encoded, options) : encoded),
    ...(typeof content.arms === 'object' && content.arms !== null ? { arms: options } : {}),
    sweep: sweep.design,
  };
  const weightFaults = weighed.flatMap((one, i) =>
    (one?.faults ?? []).map((fault) => ({ ...fault, path: `arms[${i}].${fault.path}` })),
  );
  const faults = [...findFormerKeys(composed.content), ...written.faults, ...sweep.faults, ...weightFaults];
  const unread = [...weightFaults.map(({ path }) => path), ...written.unread];
  return { arms, options, config, faults, unread, count: arms.length - sweep.probes.length };
}

function resolveComposed(composed: ComposedConfig): ExperimentConfig {
  const { content, source } = composed;
  const { plugins, faults: missing } = content.plugins === undefined ? NO_PLUGINS : resolvePlugins(composed);
  if (missing.length > 0) throw new ConfigurationError(source, missing);
  const impossible = findValueFaults(content);
  if (impossible.length > 0) throw new ConfigurationError(source, impossible);
  const { arms, options, config, faults, unread, count } = expandComposed(composed);
  const run = options.slice(0, count);
  const isFit = options.some(hasFit);
  const sizes = findSizeFaults(run);
  if (sizes.length > 0) throw new ConfigurationError(source, locateFaults(sizes, { composed, arms }));
  const result = check(expandedFile, { ...config, ...(plugins === undefined ? {} : { plugins }) });
  const found = [
    ...faults,
    ...('faults' in result
      ? result.faults.filter(({ path }) => !unread.some((prefix) => path === prefix || path.startsWith(`${prefix}.`)))
      : []),
    ...findDuplicateNames(run),
    ...findNameFaults(content, isFit ? [...run, { name: HAND_TUNED_ARM }] : run, faults),
    ...options.flatMap(findTuneFaults),
  ];
  if (found.length > 0 || 'faults' in result)
    throw new ConfigurationError(source, locateFaults(found, { composed, arms }));
  const { extends: _, groups: __, controls, placebo, seeds, datasets: ___, ...resolved } = result.value;
  const written = { ...resolved, arms: resolved.arms.slice(0, count) };
  const structured = controls === false ? written : withControls(written, controls);
  const controlled = withRepetitions(placebo ? withPlacebos(structured) : structured, seeds);
  const added = findSizeFaults(controlled.arms);
  const clashes = [
    ...added,
    ...findDuplicateNames(controlled.arms),
    ...findControlFaults(controlled.arms),
    ...(placebo ? findPlaceboFaults(controlled) : []),
    ...(isFit ? findFitFaults(controlled) : []),
    ...(INSTALLED.size > 0 ? findUnnamedPlugins(listExperimentMembers(controlled), controlled.plugins) : []),
  ];
  if (clashes.length > 0) throw new ConfigurationError(source, locateFaults(clashes, { composed, arms }));
  noteEncoderFolder(controlled.embedding, (key) => findWriterFolder(['embedding', key], composed));
  for (const [i, { embedding }] of resolved.arms.entries())
    noteEncoderFolder(embedding, (key) => {
      const keyPath = findArmValuePath(arms[i] as ExpandedArm, ['embedding', key]);
      return keyPath === undefined ? null : findWriterFolder(keyPath, composed);
    });
  const fitted = findFittedArm(controlled);
  for (const [i, { dataset }] of (fitted?.mix.fit.transfer ?? []).entries()) {
    const keys = ['mix', 'fit', 'transfer', String(i), 'dataset', 'path'];
    setDataFolder(dataset, createFolderFinder(arms[0] as ExpandedArm, composed)(keys));
  }
  setDataFolder(controlled.dataset, findWriterFolder(findDatasetPath(['dataset', 'path'], composed), composed));
  return controlled;
}

/**
 * Fills in defaults, writes the arms, the sweep and the null controls out and checks everything.
 *
 * @throws ConfigurationError with all faults at once.
 */
export function resolveConfig(raw: Plain, source: string): ExperimentConfig {
  const files = ['extends', 'groups'].filter((key) => raw[key] !== undefined);
  if (files.length > 0)
    throw new ConfigurationError(
      source,
      files.map((path) => ({ path, expected: 'nothing, outside of a file', got: JSON.stringify(raw[path]) })),
    );
  return resolveComposed(chooseDataset(wrapContent(raw, source), null));
}

/**
 * Imports and installs the plugins that a config file names, after which {@link loadConfig} knows their members.
 *
 * @returns the file with those that it names, composed.
 * @throws ConfigurationError for a file that cannot be composed; PluginError, UnavailableError, ValidationError for a
 *   plugin that cannot be installed.
 */
export async function loadConfigPlugins(path: string, overrides: readonly string[] = []): Promise<ComposedConfig> {
  const composed = composeFiles(path, overrides);
  if (composed.content.plugins !== undefined) await installConfigPlugins(composed);
  return composed;
}

/** {@link loadConfig}, with the plugins that the file names: every command opens a config by it. */
export async function openConfig(
  path: string,
  overrides: readonly string[] = [],
  dataset: string | null = null,
): Promise<ExperimentConfig> {
  return resolveComposed(chooseDataset(await loadConfigPlugins(path, overrides), dataset));
}

/**
 * The dataset of a config file, with the plugins that the file names. The arms are not read: they may name files that
 * are made from the dataset.
 *
 * @throws ConfigurationError as {@link loadConfig} does for the dataset.
 */
export async function openConfigDataset(
  path: string,
  overrides: readonly string[] = [],
  dataset: string | null = null,
): Promise<z.output<typeof datasetOptions>> {
  const composed = chooseDataset(await loadConfigPlugins(path, overrides), dataset);
  const result = check(z.object({ dataset: datasetOptions }), { dataset: composed.content.dataset });
  if ('faults' in result)
    throw new ConfigurationError(composed.source, locateFaults(result.faults, { composed, arms: [] }));
  setDataFolder(result.value.dataset, findWriterFolder(findDatasetPath(['dataset', 'path'], composed), composed));
  return result.value.dataset;
}

/**
 * Reads a config file with the files that it names, applies `path=value` overrides, and resolves it.
 *
 * @param dataset which one, of a config with several
 * @throws ConfigurationError with all faults at once, each with the file that wrote the value.
 */
export function loadConfig(
  path: string,
  overrides: readonly string[] = [],
  dataset: string | null = null,
): ExperimentConfig {
  return resolveComposed(chooseDataset(composeFiles(path, overrides), dataset));
}

/** The names of the datasets of a config that has several; null for a config of one dataset. */
export function listConfigDatasets(composed: ComposedConfig): string[] | null {
  return listDatasets(composed)?.map(({ name }) => name) ?? null;
}
