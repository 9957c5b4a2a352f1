import { z } from 'zod';
import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { readText, writeAtomic } from '../../core/files/files.ts';
import { encodeSafetensors, readCheckedSafetensors, type TensorFile } from '../../core/files/safetensors.ts';
import { Registry } from '../../core/validation/registry.ts';
import { findNearestWord, parse, parseJson, suggestKnown } from '../../core/validation/validation.ts';
import { STRATEGY_NAMES, type StrategyName } from '../query/strategy.ts';
import { MEMORY_SIGNALS, type MemorySignal, type MemorySignals } from '../signals/memory-signals.ts';
import { updateSignalName } from '../signals/plan.ts';
import { displayWeights } from './learning-display.ts';
import { linear } from './linear-model.ts';
import type { ModelDefinition, ScoringModel } from './model.ts';
import { assertValues, chooseParameterValues } from './parameters.ts';
import { trajectory } from './trajectory-model.ts';

/** Every model: to add one takes its file and a line here. */
export const MODELS = new Registry<string, ModelDefinition>([linear, trajectory]);

/**
 * @param source the name of the source in errors
 * @throws ValidationError for an unknown model, ConfigurationError for a config that is not its own.
 */
export function restoreModel(
  name: string,
  config: unknown,
  constants: ScoringModel['constants'],
  source: string,
): ScoringModel {
  const model = MODELS.find(name);
  if (model !== undefined) return model.restore(config, constants, source);
  const known = MODELS.names;
  const hint = suggestKnown(name, known);
  throw new ValidationError(`unknown model in ${source}: ${name}; use ${hint}`, { name, known });
}

const FORMAT = 'ragpp-weights-2';
/** Of files whose names of signals may be from before their grammar. */
const FORMER_FORMAT = 'ragpp-weights-1';

/** The origin of weights. */
const provenanceSchema = z.strictObject({
  /** The resolved config of the training. */
  config: z.record(z.string(), z.unknown()),
  dataHash: z.string(),
  seeds: z.array(z.int()).min(1),
  commit: z.string(),
  backend: z.string(),
  trainingClusters: z.array(z.string()).min(1),
  /** Content hashes of their conversations; absent in older files. */
  trainingContents: z.array(z.string()).min(1).optional(),
});
/** Where learned weights come from: the config, seeds, commit and backend of the training, the hash of its data, and the training conversations. */
export type Provenance = z.output<typeof provenanceSchema>;

const headerSchema = z.strictObject({
  format: z.enum([FORMAT, FORMER_FORMAT]),
  model: z.string(),
  config: z.unknown(),
  signals: z.array(z.string()),
  parameters: z.array(z.strictObject({ name: z.string(), constraint: z.string(), labels: z.array(z.string()).min(1) })),
  provenance: provenanceSchema,
});
type Header = z.output<typeof headerSchema>;

/** A model with its learned numbers. */
export interface Weights {
  readonly model: ScoringModel;
  /** [P] in their domains. */
  readonly values: Float64Array;
  readonly provenance: Provenance;
}

const PARAMETER = 'parameter:';
const CONSTANT = 'constant:';
const REMEDY = 'train the weights again';

/** Writes {@link encodeWeights} atomically. */
export function writeWeights(path: string, weights: Weights): void {
  writeAtomic(path, encodeWeights(weights));
}

/** Weights in the safetensors format. @throws ValidationError for a value outside its domain. */
export function encodeWeights({ model, values, provenance }: Weights): Uint8Array {
  assertValues(model, values);
  const header: Header = {
    format: FORMAT,
    model: model.name,
    config: model.config,
    signals: [...model.signals],
    parameters: model.parameters.map(({ name, constraint, labels }) => ({ name, constraint, labels: [...labels] })),
    provenance,
  };
  const tensors: Record<string, TensorFile['tensors'][string]> = {};
  let start = 0;
  for (const { name, labels } of model.parameters) {
    tensors[PARAMETER + name] = { shape: [labels.length], data: values.slice(start, start + labels.length) };
    start += labels.length;
  }
  for (const [name, data] of Object.entries(model.constants)) tensors[CONSTANT + name] = { shape: [data.length], data };
  return encodeSafetensors({ tensors, metadata: { weights: JSON.stringify(header) } });
}

function parseWeightHeader({ metadata }: TensorFile, path: string): Header {
  const text = metadata.weights;
  if (text === undefined) throw new ValidationError(`not a weight file: ${path}; name the weights of a fit`, { path });
  const json = parseJson(text, `metadata of the weight file is not JSON: ${path}; train the weights again`, { path });
  return withTodaysSignals(parse(headerSchema, json, path));
}

/** A value whose signals have today's names, wherever they are in it. */
function updateNames(value: unknown, update: (name: string) => string): unknown {
  if (typeof value === 'string') return update(value);
  if (Array.isArray(value)) return value.map((item) => updateNames(item, update));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [update(key), updateNames(item, update)]));
}

/** A header of a former format with today's names of signals: in the config of the model too, and in parameters that are named after one. */
function withTodaysSignals(header: Header): Header {
  if (header.format === FORMAT) return header;
  const known = new Set(header.signals);
  const update = (name: string) => (known.has(name) ? updateSignalName(name) : name);
  const parameters = header.parameters.map(({ labels, ...rest }) => ({ ...rest, labels: labels.map(update) }));
  return { ...header, config: updateNames(header.config, update), signals: header.signals.map(update), parameters };
}

function readWeightVector({ tensors }: TensorFile, name: string, size: number | null, path: string): Float64Array {
  const found = tensors[name];
  if (found === undefined)
    throw new ValidationError(`weight file ${path} has no tensor: ${name}; train the weights again`, { path, name });
  if (found.shape.length !== 1 || (size !== null && found.shape[0] !== size))
    throw new DimensionMismatchError(`${name} of ${path}`, `[${size ?? 'F'}]`, `[${found.shape.join(', ')}]`);
  return Float64Array.from(found.data);
}

/** Checks that this version of the project uses the same names and constraints. */
function assertSame(what: string, path: string, expected: readonly string[], got: readonly string[]): void {
  if (expected.join() !== got.join())
    throw new DimensionMismatchError(`${what} of ${path}`, expected.join(', '), got.join(', '));
}

/**
 * @throws StorageError, ChecksumMismatchError for a file that cannot be read or is damaged; ValidationError, ConfigurationError, DimensionMismatchError for one that
 * is not a weight file of this version, with the expected value and the value found.
 */
export function readWeights(path: string): Weights {
  const file = readCheckedSafetensors(path, REMEDY);
  const header = parseWeightHeader(file, path);
  const constants = Object.fromEntries(
    Object.keys(file.tensors)
      .filter((name) => name.startsWith(CONSTANT))
      .map((name) => [name.slice(CONSTANT.length), readWeightVector(file, name, null, path)]),
  );
  const model = restoreModel(header.model, header.config, constants, path);
  assertSame('signals', path, model.signals, header.signals);
  const formatHeaderParameter = ({ name, constraint, labels }: Header['parameters'][number]) =>
    `${name} (${constraint}: ${labels.join(' ')})`;
  assertSame(
    'parameters',
    path,
    model.parameters.map((spec) => formatHeaderParameter({ ...spec, labels: [...spec.labels] })),
    header.parameters.map(formatHeaderParameter),
  );
  const values = chooseParameterValues(model, ({ name, labels }) =>
    readWeightVector(file, PARAMETER + name, labels.length, path),
  );
  assertValues(model, values);
  return displayWeights({ model, values, provenance: header.provenance });
}

/**
 * @param available signals that the user of the weights can compute
 * @throws ValidationError naming every missing signal, with the nearest existing one.
 */
export function assertFits({ model }: Pick<Weights, 'model'>, available: readonly string[]): void {
  const missing = model.signals.filter((signal) => !available.includes(signal));
  if (missing.length === 0) return;
  const hints = missing.map((signal) => {
    const nearest = findNearestWord(signal, available);
    return nearest === undefined ? signal : `${signal} (nearest: ${nearest})`;
  });
  const known = available.length === 0 ? 'there are none' : `available are ${available.join(', ')}`;
  throw new ValidationError(
    `weights of the ${model.name} model need missing signals: ${hints.join(', ')}; use a bank that has them (${known})`,
    { missing },
  );
}

const USER_FORMAT = 'ragpp-user-weights-1';

const learned = z.strictObject({
  weights: z.record(z.enum(MEMORY_SIGNALS as readonly MemorySignal[] as [MemorySignal, ...MemorySignal[]]), z.number()),
  questions: z.int().min(1),
  share: z.number().gt(0).lt(1),
});

const userWeightsFile = z.strictObject({
  format: z.literal(USER_FORMAT),
  provenance: provenanceSchema,
  users: z.record(z.string().min(1), z.partialRecord(z.enum(STRATEGY_NAMES), learned)),
});
/**
 * Learned weights of the strategies of users, by user and strategy, and where they come from. A strategy of a user with
 * too few questions is absent.
 */
export type UserWeights = Omit<z.output<typeof userWeightsFile>, 'format'>;

/** The text of a file that {@link readUserWeights} reads. */
export function formatUserWeights(weights: UserWeights): string {
  return `${JSON.stringify({ format: USER_FORMAT, ...weights }, null, 2)}\n`;
}

/** @throws StorageError for a file that cannot be read; ValidationError, ConfigurationError for one that no fit left. */
export function readUserWeights(path: string): UserWeights {
  const json = parseJson(readText(path), `not a file of users' weights: ${path}; name users.json of a training`, {
    path,
  });
  const { format: _, ...weights } = parse(userWeightsFile, json, path);
  return weights;
}

/** By user, then by strategy: what `users` of the signal `strategy` takes. */
export function listUserWeights({
  users,
}: Pick<UserWeights, 'users'>): Record<string, Partial<Record<StrategyName, MemorySignals>>> {
  return Object.fromEntries(
    Object.entries(users).map(([user, own]) => [
      user,
      Object.fromEntries(Object.entries(own).map(([strategy, { weights }]) => [strategy, weights])),
    ]),
  );
}
