import { type ConfigurationFault, RagPlusPlusError } from '../../core/errors/errors.ts';
import { locatePath } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { getValueAt, parseOrNull, shortenToExcerpt } from '../../core/validation/validation.ts';
import {
  type EncoderOptions,
  encoderOptions,
  findEncoderFiles,
  setEncoderFolder,
} from '../../index/encoders/registry.ts';
import { hashRunFile } from '../../index/runs/run-options.ts';
import { computeRawWeights, type LinearModel } from '../../rank/learning/linear-model.ts';
import { nameParameterValues } from '../../rank/learning/parameters.ts';
import { listUserWeights, readUserWeights, readWeights, type Weights } from '../../rank/learning/weight-file.ts';
import { listStepNames } from '../../rank/retrieval/written-steps.ts';
import { isPlain, type Path, type Plain, readYaml, setPath } from '../composition/config-file.ts';

/** All options of an encoder; null for invalid options, which are reported as an error of their own. */
function parseEncoderOptions(embedding: unknown): EncoderOptions | null {
  return parseOrNull(encoderOptions, embedding);
}

/** Finds the folder of the file that wrote a key of the options; null outside of files. */
type FindFolder = (key: string) => string | null;

/** The hash of files that exist; null for others, which are an error where they are read. */
function hashFiles(options: EncoderOptions): string | null {
  try {
    return findEncoderFiles(options)?.hash(options) ?? null;
  } catch (error) {
    if (error instanceof RagPlusPlusError) return null;
    throw error;
  }
}

/**
 * Gives an encoder that reads files of the user the paths at which they are, and the hash of their content. So the hash
 * of the experiment covers the content, and an interrupted run is not continued with other vectors.
 *
 * @param tuned keys whose values tuning chooses: no single hash states the content of their files.
 */
export function withEncoderFiles(embedding: unknown, findFolder: FindFolder, tuned: readonly string[] = []): unknown {
  const options = parseEncoderOptions(embedding);
  const files = options === null ? null : findEncoderFiles(options);
  if (options === null || files === null || !isPlain(embedding)) return embedding;
  const paths = Object.entries(embedding).flatMap(([key, path]) =>
    (files.keys as readonly string[]).includes(key) && typeof path === 'string'
      ? [[key, locatePath(path, findFolder(key))] as const]
      : [],
  );
  const located = { ...embedding, ...Object.fromEntries(paths) };
  const isPinned = !tuned.some((key) => (files.keys as readonly string[]).includes(key));
  const hash =
    isPinned && embedding.hash === undefined ? hashFiles({ ...options, ...Object.fromEntries(paths) }) : null;
  return hash === null ? located : { ...located, hash };
}

/** Notes where the files of resolved options were searched, for the message about a missing file. */
export function noteEncoderFolder(options: EncoderOptions | null, findFolder: FindFolder): void {
  if (options === null) return;
  const missing = findEncoderFiles(options)?.findMissing(options) ?? null;
  if (missing !== null) setEncoderFolder(options, findFolder(missing));
}

/** The name of the model of precomputed vectors is a statement about them, and no option of reading them. */
function withoutModelName(options: EncoderOptions): Plain {
  if (options.encoder !== 'precomputed') return { ...options };
  const { model: _, ...others } = options;
  return others;
}

/**
 * Whether two encoders embed texts in the same way. Vectors of the user are of the same encoder if both options name
 * the same model; otherwise files are compared by content, and by path only where no content is known.
 */
function isSameEncoder(one: EncoderOptions, other: EncoderOptions): boolean {
  if (one.encoder === 'precomputed' && other.encoder === 'precomputed' && one.model && other.model)
    return one.model === other.model && one.dimension === other.dimension;
  const [first, second]: Plain[] = [withoutModelName(one), withoutModelName(other)];
  const isByContent = first?.hash !== undefined && second?.hash !== undefined;
  const ignored = isByContent ? (findEncoderFiles(one)?.keys ?? []) : ['hash'];
  const describe = (options: Plain = {}) =>
    computeHash(Object.fromEntries(Object.entries(options).filter(([key]) => !(ignored as string[]).includes(key))));
  return describe(first) === describe(second);
}

/** The value that replaces the name of a file, or the error of the file. */
type Resolved = { readonly value: Plain } | { readonly fault: Omit<ConfigurationFault, 'path'> };

function describeProvenance(file: string, { provenance }: Pick<Weights, 'provenance'>): Plain {
  const { dataHash, trainingClusters, trainingContents, commit } = provenance;
  const contents = trainingContents === undefined ? {} : { trainingContents };
  return { file, dataHash, trainingClusters, ...contents, commit };
}

/** The remedy for vectors that one model made of two data sets. */
function describeModelName(here: EncoderOptions, there: EncoderOptions | null): string {
  if (here.encoder !== 'precomputed' || there?.encoder !== 'precomputed' || (here.model && there.model)) return '';
  return ', or, for vectors of the same model, embedding.model in the configs of both';
}

/** Describes weights that were learned with another encoder than the config's; null if they were not. */
function findEncoderFault({ provenance }: Pick<Weights, 'provenance'>, embedding: unknown) {
  const [here, there] = [parseEncoderOptions(embedding), parseEncoderOptions(provenance.config.embedding)];
  if (here === null || (there !== null && isSameEncoder(here, there))) return null;
  return {
    expected: `a weight file that was learned with the config's embedding, ${JSON.stringify(here)}${describeModelName(here, there)}`,
    got: `one that was learned with ${JSON.stringify(there)}`,
  };
}

/**
 * The mix of signals in a weight file, with the bank that it was learned in. Its cosines and coordinates must be those
 * of the encoder that it was learned with.
 */
function readSignalMix(file: string, weights: Weights, embedding: unknown): Resolved {
  const { model, values, provenance } = weights;
  if (model.name !== 'linear')
    return { fault: { expected: 'a weight file of a linear mix of signals', got: `one of model ${model.name}` } };
  const fault = findEncoderFault(weights, embedding);
  if (fault !== null) return { fault };
  const linear = model as LinearModel;
  return {
    value: {
      signals: provenance.config.signals,
      weights: computeRawWeights(linear, values),
      ...(linear.normalise === 'pool' ? {} : { normalise: linear.normalise }),
      origin: describeProvenance(file, weights),
    },
  };
}

/** The coordinate weights in a weight file. */
function readCoordinateWeights({ model, values }: Weights, dimensions: unknown): Resolved {
  const learned = nameParameterValues(model, values).coordinates;
  const expected = `a weight file of a trajectory model in ${dimensions} dimensions`;
  if (learned === undefined) return { fault: { expected, got: `one of model ${model.name}` } };
  const count = Object.keys(learned).length;
  if (count !== dimensions) return { fault: { expected, got: `one in ${count} dimensions` } };
  return { value: learned };
}

/** @param folder in which a relative name is looked for before the working directory. */
function read<W>(
  file: string,
  folder: string | null,
  readFile: (path: string) => W,
  use: (weights: W) => Resolved,
): Resolved {
  try {
    return use(readFile(locatePath(file, folder)));
  } catch (error) {
    if (!(error instanceof RagPlusPlusError)) throw error;
    const locations = folder === null ? '' : `, relative to ${folder} or to the working directory`;
    return { fault: { expected: `a weight file${locations} (${error.message})`, got: JSON.stringify(file) } };
  }
}

/** The folders for the files of an arm. */
interface Surroundings {
  /** The encoder of the arm or else of the experiment. */
  readonly embedding?: unknown;
  /** The folder of the file that wrote a value of the arm, or null. */
  readonly folderOf?: (keys: Path) => string | null;
}

/** A value within an arm that names a weight file, and what takes its place. */
interface NamedWeights {
  readonly keys: Path;
  readonly file: string;
  readonly resolve: (path: string) => Resolved;
}

/** The weight files that the steps of an arm name. */
function listNamedWeights(arm: Plain, around: Surroundings): NamedWeights[] {
  const { mix } = arm;
  const named: NamedWeights[] = [];
  const addMix = (keys: Path, file: string) =>
    named.push({ keys, file, resolve: (path) => readSignalMix(file, readWeights(path), around.embedding) });
  if (typeof mix === 'string') addMix(['mix'], mix);
  else if (isPlain(mix) && typeof mix.weights === 'string') addMix(['mix', 'weights'], mix.weights);
  for (const name of listStepNames('blend', arm.as)) {
    const trajectory = getValueAt(arm, [name, 'trajectory']);
    if (!isPlain(trajectory) || typeof trajectory.weights !== 'string') continue;
    const { weights: file, dimensions = 5 } = trajectory;
    const resolve = (path: string) => readCoordinateWeights(readWeights(path), dimensions);
    named.push({ keys: [name, 'trajectory', 'weights'], file, resolve });
  }
  for (const name of listStepNames('score', arm.as)) {
    const strategy = getValueAt(arm, [name, 'strategy']);
    if (!isPlain(strategy) || typeof strategy.users !== 'string') continue;
    const file = strategy.users;
    const resolve = (path: string): Resolved => {
      const weights = readUserWeights(path);
      const fault = findEncoderFault(weights, around.embedding);
      if (fault !== null) return { fault };
      return { value: { users: listUserWeights(weights), origin: describeProvenance(file, weights) } };
    };
    named.push({ keys: [name, 'strategy', 'users'], file, resolve });
  }
  return named;
}

/**
 * A mix and the weights of users take the place of the mapping that names the file; coordinate weights that of the
 * name.
 */
function putWeights(arm: Plain, keys: Path, value: Plain): Plain {
  const changed: Plain = structuredClone(arm);
  const isOfCoordinates = keys[1] === 'trajectory';
  const path = isOfCoordinates || keys.length === 1 ? keys : keys.slice(0, -1);
  const before = getValueAt(changed, path);
  setPath(changed, path, isOfCoordinates || !isPlain(before) ? value : { ...before, ...value });
  return changed;
}

/**
 * Replaces the names of weight files by their numbers, so that a resolved config is complete: `mix.weights` becomes the
 * mix of signals, `blend.trajectory.weights` the coordinate weights, and `score.strategy.users` the weights of each
 * user. `origin.file` keeps the name as written, so that the result does not depend on the config's folder.
 *
 * @returns the arm, or the faults with the path within it.
 */
export function withWeightFiles(
  arm: Plain,
  around: Surroundings,
): { readonly arm: Plain; readonly faults: ConfigurationFault[] } {
  const faults: ConfigurationFault[] = [];
  let resolved = arm;
  for (const { keys, file, resolve } of listNamedWeights(arm, around)) {
    const found = read(file, around.folderOf?.(keys) ?? null, (path) => path, resolve);
    if ('fault' in found) faults.push({ path: keys.join('.'), ...found.fault });
    else resolved = putWeights(resolved, keys, found.value);
  }
  return { arm: resolved, faults };
}

/** Documents of each query that an arm takes from its run file, if it does not say how many. */
export const ARM_DEPTH = 1000;

/** Finds the folder of the file that wrote a value of the arm; null outside of files. */
type FindWriterFolder = (keys: Path) => string | null;

/** The keys of a source that name a file, with what the file is. */
interface NamedFile {
  readonly keyPath: string;
  readonly noun: string;
  readonly file: unknown;
  /**
   * The keys of the source that lead to the file, with the hash of its content, or that hold its content.
   *
   * @throws RagPlusPlusError for a file that cannot be read.
   */
  readonly resolve: (folder: string | null) => Plain;
}

function locateFile(file: unknown, hash: unknown, folder: string | null) {
  const path = locatePath(file as string, folder);
  return { path, hash: typeof hash === 'string' ? hash : hashRunFile({ path }) };
}

/**
 * The files that a source names: of rankings, of the concepts of a graph, or a database and what it is asked; none for
 * an error of the schema.
 */
function listNamedFiles(source: unknown): NamedFile[] {
  if (!isPlain(source)) return [];
  const { index, path: run, hash: stated, concepts, domain, database } = source;
  const files: NamedFile[] = [];
  if (index === 'run' && typeof run === 'string')
    files.push({
      ...{ keyPath: 'path', noun: 'a run file', file: run },
      resolve: (folder) => locateFile(run, stated, folder),
    });
  if (index === 'graph' && isPlain(concepts) && typeof concepts.file === 'string')
    files.push({
      ...{ keyPath: 'concepts.file', noun: 'a file of concepts', file: concepts.file },
      resolve: (folder) => {
        const { path, hash } = locateFile(concepts.file, concepts.hash, folder);
        return { concepts: { ...concepts, file: path, hash } };
      },
    });
  if (index === 'domain' && typeof domain === 'string')
    files.push({
      ...{ keyPath: 'domain', noun: 'a domain or a file with one', file: domain },
      resolve: (folder) => ({ domain: readYaml(locatePath(domain, folder)) }),
    });
  if (index === 'domain' && typeof database === 'string')
    files.push({
      ...{ keyPath: 'database', noun: 'a file of DuckDB', file: database },
      resolve: (folder) => {
        const { path, hash } = locateFile(database, stated, folder);
        return { database: path, hash };
      },
    });
  return files;
}

function describeMissing(path: string, { noun, file }: NamedFile, folder: string | null, error: RagPlusPlusError) {
  const locations = folder === null ? '' : `, relative to ${folder} or to the working directory`;
  return { path, expected: `${noun}${locations} (${error.message})`, got: shortenToExcerpt(file) };
}

/** A source of a step `search` by its name: `run: file` is short for its path. */
function nameSource(name: string, written: unknown): unknown {
  if (!isPlain(written)) return written;
  const { file, ...rest } = written;
  const { index = name } = rest;
  if (index !== 'run') return { index, ...rest };
  return {
    index,
    ...(file === undefined ? {} : { path: file }),
    ...(rest.k === undefined ? { k: ARM_DEPTH } : {}),
    ...rest,
  };
}

/**
 * Gives every source of a run file, of a file of concepts or of a database the path of the file and the hash of its
 * content, and that of a domain its content. So the key of a cached result, and the hash of the experiment, cover the
 * content of the file.
 *
 * @returns the arm, and the faults with the path within it.
 */
export function withSourceFiles(
  arm: Plain,
  findFolder: FindWriterFolder,
): { readonly arm: Plain; readonly faults: readonly ConfigurationFault[] } {
  if (!isPlain(arm.search)) return { arm, faults: [] };
  const faults: ConfigurationFault[] = [];
  const search: Plain = {};
  for (const [name, options] of Object.entries(arm.search)) {
    const source = nameSource(name, options);
    search[name] = source;
    for (const named of listNamedFiles(source)) {
      const keyPath = isPlain(options) && Object.hasOwn(options, 'file') ? 'file' : named.keyPath;
      const folder = findFolder(['search', name, ...keyPath.split('.')]);
      try {
        search[name] = { ...(search[name] as Plain), ...named.resolve(folder) };
      } catch (error) {
        if (!(error instanceof RagPlusPlusError)) throw error;
        faults.push(describeMissing(`search.${name}.${keyPath}`, named, folder, error));
      }
    }
  }
  return { arm: { ...arm, search }, faults };
}

/**
 * Replaces the name of a file in `slice.policy` by its content, so that a resolved config is complete.
 *
 * @param folderOf the folder of the file that wrote a value of the arm, or null.
 * @returns the arm, or the fault with the path within it.
 */
export function withPolicyFile(
  arm: Plain,
  folderOf: (keys: Path) => string | null,
): { readonly arm: Plain; readonly faults: ConfigurationFault[] } {
  const { slice } = arm;
  if (!isPlain(slice) || typeof slice.policy !== 'string') return { arm, faults: [] };
  const folder = folderOf(['slice', 'policy']);
  try {
    return { arm: { ...arm, slice: { ...slice, policy: readYaml(locatePath(slice.policy, folder)) } }, faults: [] };
  } catch (error) {
    if (!(error instanceof RagPlusPlusError)) throw error;
    const locations = folder === null ? '' : `, relative to ${folder} or to the working directory`;
    const expected = `a policy or a file with one${locations} (${error.message})`;
    return { arm, faults: [{ path: 'slice.policy', expected, got: JSON.stringify(slice.policy) }] };
  }
}
