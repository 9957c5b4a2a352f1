import { type ConfigurationFault, locatePath, RagPlusPlusError } from '../../core/errors/errors.ts';
import { getValueAt } from '../../core/validation/validation.ts';
import type { EncoderOptions } from '../../index/encoders/registry.ts';
import { computeRawWeights, type LinearModel } from '../../rank/learning/linear-model.ts';
import { nameParameterValues } from '../../rank/learning/parameters.ts';
import { listUserWeights, readUserWeights } from '../../rank/learning/user-weights-file.ts';
import { readWeights, type Weights } from '../../rank/learning/weight-file.ts';
import { listStepNames } from '../../rank/retrieval/written-steps.ts';
import { isPlain, type Path, type Plain, setPath } from '../composition/config-file.ts';
import { isSameEncoder, parseEncoderOptions } from './encoder-references.ts';

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

/** What is wrong where weights were learned with another encoder than the config's; null if nothing is. */
function findEncoderFault({ provenance }: Pick<Weights, 'provenance'>, embedding: unknown) {
  const [here, there] = [parseEncoderOptions(embedding), parseEncoderOptions(provenance.config.embedding)];
  if (here === null || (there !== null && isSameEncoder(here, there))) return null;
  return {
    expected: `a weight file that was learned with the config's embedding, ${JSON.stringify(here)}${describeModelName(here, there)}`,
    got: `one that was learned with ${JSON.stringify(there)}`,
  };
}

/** The mix of signals in a weight file, with the bank that it was learned in. Its cosines and coordinates must be those of the encoder that it was learned with. */
function readSignalMix(file: string, weights: Weights, embedding: unknown): Resolved {
  const { model, values, provenance } = weights;
  if (model.name !== 'linear')
    return { fault: { expected: 'a weight file of a linear mix of signals', got: `one of model ${model.name}` } };
  const fault = findEncoderFault(weights, embedding);
  if (fault !== null) return { fault };
  return {
    value: {
      signals: provenance.config.signals,
      weights: computeRawWeights(model as LinearModel, values),
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
export interface Surroundings {
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

/** A mix and the weights of users take the place of the mapping that names the file; coordinate weights that of the name. */
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
