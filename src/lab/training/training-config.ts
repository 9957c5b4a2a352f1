import { z } from 'zod';
import { ConfigurationError, type ConfigurationFault, locatePath } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { BACKENDS } from '../../core/tensors/active-backend.ts';
import { check, parse, shortenToExcerpt } from '../../core/validation/validation.ts';
import { setDataFolder } from '../../data/prepared/data-folder.ts';
import { datasetOptions } from '../../data/registry.ts';
import { encoderOptions } from '../../index/encoders/registry.ts';
import { indexOptions } from '../../index/registry.ts';
import { readWrittenFilter } from '../../model/filter/filter-schema.ts';
import { strategyLearningOptions } from '../../rank/learning/strategy-weights.ts';
import { VALIDATION_METRIC } from '../../rank/learning/table-metrics.ts';
import { signalBankOptions } from '../../rank/signals/bank/options.ts';
import { signalName, signalNumbers } from '../../rank/signals/signal-names.ts';
import { type ComposedConfig, composeFiles, findWriterFolder } from '../composition/config-composition.ts';
import { isPlain, type Plain } from '../composition/config-file.ts';
import { loadConfigPlugins } from '../config/config.ts';
import { locateFaults } from '../config/config-faults.ts';
import { metric, metrics, slug } from '../config/config-schema.ts';
import { noteEncoderFolder, withEncoderFiles } from '../config/encoder-references.ts';
import { resolvePlugins } from '../plugins/config-plugins.ts';
import {
  findUnnamedPlugins,
  listBankNames,
  listMetricNames,
  listSourceNames,
  type NamedMember,
} from '../plugins/named-members.ts';
import { resolvedPlugin } from '../plugins/plugin.ts';

const loss = z.enum(['listwise', 'infonce']);
const positive = z.number().positive();

/** The grid of the inner folds: every combination of the values. */
const gridOptions = z.strictObject({
  loss: z.array(loss).min(1).default(['listwise', 'infonce']),
  l2: z.array(z.number().nonnegative()).min(1).default([0.0003, 0.003]),
  learningRate: z.array(positive).min(1).default([0.05]),
});

const fittingOptions = z.strictObject({
  grid: gridOptions.prefault({}),
  /** Of the softmax in both losses. */
  temperature: positive.default(1),
  /** The metric of early stopping, the inner folds and the searches. */
  metric: metric.prefault(VALIDATION_METRIC),
  epochs: z.int().min(1).default(60),
  /** Epochs without a better validation after which training stops. */
  patience: z.int().min(1).default(8),
  /** Queries in a step; null for all of them. */
  batchSize: z.int().min(1).nullable().default(128),
  /** Trainings from different starts, whose numbers are averaged. */
  seeds: z.int().min(1).default(3),
  startNoise: z.number().nonnegative().default(0.01),
});

const modelOptions = z.discriminatedUnion('name', [
  z.strictObject({
    name: z.literal('linear'),
    /** Signals of the bank; null for all. */
    signals: z.array(signalName).min(1).nullable().default(null),
    nonNegative: z.array(signalName).default([]),
    /** Hand-tuned weight of a standard deviation of each signal, the start; by default bm25 and cosine alike. */
    initial: signalNumbers.nullable().default(null),
  }),
  z.strictObject({
    name: z.literal('trajectory'),
    dimensions: z.union([z.literal(3), z.literal(5), z.literal(7)]).default(5),
  }),
]);

/** How weights of users are learned. */
const userOptions = strategyLearningOptions.extend({
  /** Memories that a question is taken to have shown: the best by the weights of its strategy. */
  shown: z.int().min(2).default(50),
});

/** The conversations that each fold holds out. */
const listedFolds = z.array(z.array(z.string().min(1)).min(1)).min(2);

const crossValidationOptions = z.strictObject({
  /** Folds by conversation: each is scored by weights that have not seen it. */
  outer: z.union([z.literal('leave-one-out'), z.int().min(2), listedFolds]).default(5),
  /** Folds within the others, which choose the hyper-parameters. */
  inner: z.int().min(2).default(3),
});

const evaluationOptions = z.strictObject({
  metrics: metrics.prefault(['recall@10', 'ndcg@10', 'mrr@10']),
  samples: z.int().min(100).default(10_000),
  level: z.number().gt(0).lt(1).default(0.95),
  /** Trainings on resampled conversations behind the intervals of the weights; 0 for no intervals. */
  resamples: z.int().min(0).default(100),
  /** Places of each ranking that are measured and written; absent in a resolved config that has none, so that its hash stays. */
  depth: z.int().min(1).optional(),
});

/** Without a transformation, so that the schema of the keys has defaults. */
const filterText = z.string().superRefine((text, context) => void readWrittenFilter(text, context));

/** Other data that the weights are tried on, trained here and there. */
const transferOptions = z.strictObject({
  name: slug,
  dataset: datasetOptions,
  /** If they differ from those of the training. */
  candidates: z.array(indexOptions).min(1).optional(),
  sameChannel: z.boolean().optional(),
  /** What its queries may see; that of the training is not taken over, since the data may lack its attributes. */
  filter: filterText.nullable().optional(),
  /** Limits its dev queries, of conversations drawn by the seed. */
  limitQueries: z.int().min(2).nullable().default(null),
});

/** The whole of a training config. */
export const trainingConfig = z.strictObject({
  name: slug,
  description: z.string().default(''),
  seed: z.int().default(1),
  backend: z.enum(['auto', ...BACKENDS]).default('auto'),
  /** Limits the queries of a split, of conversations drawn by the seed: for a quick look. Null for all of them. */
  limitQueries: z.int().min(2).nullable().default(null),
  dataset: datasetOptions,
  embedding: encoderOptions,
  /** The pool is the union of these sources. */
  candidates: z.array(indexOptions).min(1),
  /** Leaves out turns of another channel than the query's. */
  sameChannel: z.boolean().default(false),
  /** The text of a filter, applied before the search; absent in a resolved config that has none, so that its hash stays. */
  filter: filterText.nullable().optional(),
  signals: signalBankOptions.prefault({}),
  /** The one model that is trained. */
  model: modelOptions.default({ name: 'linear', signals: null, nonNegative: [], initial: null }),
  /** Learns the weights of the signal `strategy` for each user; absent in a resolved config that does not, so that its hash stays. */
  users: userOptions.optional(),
  fitting: fittingOptions.prefault({}),
  crossValidation: crossValidationOptions.prefault({}),
  evaluation: evaluationOptions.prefault({}),
  /** Whether to leave out signals one family at a time, to measure each. */
  importance: z.boolean().default(true),
  /** Whether to exchange signals between candidates, one part at a time, to measure their share of the gain. */
  controls: z.boolean().default(true),
  transfer: z.array(transferOptions).prefault([]),
  plugins: z.array(resolvedPlugin).optional(),
});
/**
 * A checked training with every default in place: the data, the signals, the model, its fitting, its cross-validation
 * and its metrics.
 */
export type TrainingConfig = z.output<typeof trainingConfig>;

/** The lists of a file. @throws ConfigurationError that gives the reason as `got`. */
function readFoldsFile(file: string, folder: string | null): z.output<typeof listedFolds> {
  try {
    return parse(listedFolds, JSON.parse(readText(locatePath(file, folder))), file);
  } catch (error) {
    const [fault] = error instanceof ConfigurationError ? error.faults : [];
    const reason = fault ? `${fault.path}: expected ${fault.expected}, got ${fault.got}` : (error as Error).message;
    const expected = `a readable file, a JSON list of lists of conversations (${reason})`;
    throw new ConfigurationError(file, [{ path: FOLDS, expected, got: shortenToExcerpt(file) }]);
  }
}

const FOLDS = 'crossValidation.folds';

/** The content with the folds of the file that `crossValidation.folds` names, so that a resolved config is complete. */
function withFoldsFile(composed: ComposedConfig): { readonly content: Plain; readonly faults: ConfigurationFault[] } {
  const { content, overridden } = composed;
  const { crossValidation } = content;
  if (!isPlain(crossValidation) || crossValidation.folds === undefined) return { content, faults: [] };
  const { folds: file, ...rest } = crossValidation;
  const without = { ...content, crossValidation: rest };
  if (file === null) return { content: without, faults: [] };
  const fail = (expected: string) => ({
    content: without,
    faults: [{ path: FOLDS, expected, got: shortenToExcerpt(file) }],
  });
  if (typeof file !== 'string') return fail('a file, a JSON list of lists of conversations, or null');
  if (overridden.some((path) => path.join('.') === 'crossValidation.outer'))
    return fail('null, since --set crossValidation.outer sets the folds; add --set crossValidation.folds=null');
  try {
    const outer = readFoldsFile(file, findWriterFolder(FOLDS.split('.'), composed));
    return { content: { ...content, crossValidation: { ...rest, outer } }, faults: [] };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return { content: without, faults: [...error.faults] };
  }
}

/** Where a training names members that a plugin may have. */
function listTrainingMembers(config: TrainingConfig): NamedMember[] {
  const { dataset, embedding, candidates, signals, fitting, evaluation, transfer } = config;
  return [
    { path: 'dataset.name', kind: 'datasets', name: dataset.name },
    { path: 'embedding.encoder', kind: 'encoders', name: embedding.encoder },
    ...listSourceNames(candidates, ''),
    ...listBankNames(signals, 'signals'),
    ...listMetricNames([fitting.metric], () => 'fitting.metric'),
    ...listMetricNames(evaluation.metrics),
    ...transfer.flatMap((other, i): NamedMember[] => [
      { path: `transfer[${i}].dataset.name`, kind: 'datasets', name: other.dataset.name },
      ...listSourceNames(other.candidates, `transfer[${i}].`),
    ]),
  ];
}

/** Weights of users are of five signals, which two groups have. */
function findUserFaults({ users, signals: { groups } }: TrainingConfig): ConfigurationFault[] {
  if (users === undefined || (groups.includes('text') && groups.includes('memory'))) return [];
  return [
    { path: 'signals.groups', expected: 'a list with text and memory, which users needs', got: groups.join(', ') },
  ];
}

/**
 * Reads a training config with the files that it extends, and applies `path=value` overrides. Its plugins are installed: see {@link openTrainingConfig}.
 *
 * @throws ConfigurationError with all faults at once, each with the file and the line that wrote the value.
 */
export function loadTrainingConfig(path: string, overrides: readonly string[] = []): TrainingConfig {
  const composed = composeFiles(path, overrides);
  const { plugins, faults: missing } = resolvePlugins(composed);
  const { content, faults } = withFoldsFile(composed);
  const findFolder = (key: string) => findWriterFolder(['embedding', key], composed);
  const embedding = withEncoderFiles(content.embedding, findFolder);
  const encoded = embedding === undefined ? content : { ...content, embedding };
  const result = check(trainingConfig, plugins === undefined ? encoded : { ...encoded, plugins });
  const fail = (found: readonly ConfigurationFault[]) =>
    new ConfigurationError(composed.source, locateFaults(found, { composed, arms: [] }));
  if (missing.length > 0) throw fail(missing);
  if ('faults' in result) throw fail([...faults, ...result.faults]);
  const found = [
    ...faults,
    ...findUnnamedPlugins(listTrainingMembers(result.value), result.value.plugins),
    ...findUserFaults(result.value),
  ];
  if (found.length > 0) throw fail(found);
  const { dataset, transfer } = result.value;
  noteEncoderFolder(result.value.embedding, findFolder);
  setDataFolder(dataset, findWriterFolder(['dataset', 'path'], composed));
  for (const [i, other] of transfer.entries())
    setDataFolder(other.dataset, findWriterFolder(['transfer', String(i), 'dataset', 'path'], composed));
  return result.value;
}

/**
 * {@link loadTrainingConfig}, with the plugins that the file names.
 *
 * @throws PluginError, UnavailableError, ValidationError for a plugin that cannot be installed.
 */
export async function openTrainingConfig(path: string, overrides: readonly string[] = []): Promise<TrainingConfig> {
  await loadConfigPlugins(path, overrides);
  return loadTrainingConfig(path, overrides);
}
