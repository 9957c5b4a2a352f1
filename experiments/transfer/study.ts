import { z } from 'zod';
import { ValidationError } from '../../src/core/errors/errors.ts';
import { parse } from '../../src/core/validation/validation.ts';
import { datasetOptions } from '../../src/data/registry.ts';
import { loadConfig } from '../../src/lab/config/config.ts';
import { withPoolSteps } from '../../src/lab/config/fitted-arm.ts';
import { groupContentHashes } from '../../src/lab/measure/passport.ts';
import { formatDecimal } from '../../src/lab/report/tables/format.ts';
import { buildSelectionPlan } from '../../src/lab/training/fitted-methods.ts';
import { LearningTask } from '../../src/lab/training/learning-task.ts';
import { keepSelected } from '../../src/lab/training/selected-signals.ts';
import { readTraining, type TrainingConfig } from '../../src/lab/training/training-config.ts';
import { fitPoint } from '../../src/rank/learning/cross-validation.ts';
import { copySignalColumn, type FeatureTable, selectQueries } from '../../src/rank/learning/feature-table.ts';
import { createTableMetric } from '../../src/rank/learning/fit-options.ts';
import { fitModel, type HyperParameters } from '../../src/rank/learning/fitting.ts';
import { drawBalancedFolds, putRows } from '../../src/rank/learning/folds.ts';
import type { LinearModel } from '../../src/rank/learning/linear-model.ts';
import { type ScoringModel, scoreTable } from '../../src/rank/learning/model.ts';
import { listHandTunedValues, nameParameterValues } from '../../src/rank/learning/parameters.ts';
import { encodeWeights } from '../../src/rank/learning/weight-file.ts';
import type { Study, StudyContext } from '../study.ts';
import { formatPipeTable } from '../text-table.ts';
import { mergeTables } from './merged-table.ts';
import { rankSignals } from './ranked-table.ts';

/** A dataset that is only tested. */
const target = z.strictObject({
  name: z.string().min(1),
  dataset: datasetOptions,
  /** The steps up to the pool. */
  steps: z.array(z.unknown()).min(1),
  limitQueries: z.int().min(2).nullable().default(null),
  /** Groups of signals that it has no data for. */
  without: z.array(z.string()).default([]),
});

const settings = z.strictObject({
  seed: z.int().default(20260101),
  /** A config of a selection; its dataset and those of `fit.transfer` are learned from and tested. */
  config: z.string().min(1).default('configs/learning/late-transfer.yaml'),
  /** Paths of the datasets of `fit.transfer` by name. */
  paths: z.record(z.string(), z.string()).default({}),
  /** Tested only. */
  targets: z.array(target).prefault([
    {
      name: 'oasst',
      dataset: { name: 'oasst', path: 'oasst.jsonl' },
      steps: [{ search: { newest: { k: 500 } } }],
      limitQueries: 300,
      without: ['time', 'thread', 'structure'], // its times are made up
    },
    {
      name: 'musique',
      dataset: {
        name: 'multihop',
        path: 'hipporag',
        questions: 'musique_train.json',
        passages: 'musique_train_corpus.json',
      },
      steps: [{ search: { bm25: { k: 200, dropStopWords: true, stem: true } } }],
      limitQueries: 300,
      without: ['time', 'thread', 'author', 'structure', 'late'],
    },
    {
      name: 'synthetic',
      dataset: { name: 'synthetic', dependencies: ['time'], strength: 1 },
      steps: [{ search: { newest: { k: 31 } } }],
      limitQueries: 200,
    },
  ]),
  /** A folder of chats with questions and judgements, as `jsonl` reads it, that are tested too; null for none. */
  chats: z.string().min(1).nullable().default(null),
  /** The signals of a selection. */
  most: z.int().min(1).default(28),
});
type Settings = z.output<typeof settings>;

/** A way to learn a mix. */
interface Variant {
  readonly name: string;
  readonly hasTokens: boolean;
  readonly selects: boolean;
  readonly normalise: TrainingConfig['fit']['normalise'];
  /** True if a signal is its rank among the candidates of a question, in place of its value. */
  readonly isRanked?: true;
}

/** The mix that is learned from several sources together. */
const TOGETHER: Variant = {
  name: 'few signals and tokens, by question',
  ...{ hasTokens: true, selects: true, normalise: 'question' },
};

/** From the plain mix on, one change at a time. */
export const VARIANTS: readonly Variant[] = [
  { name: 'all signals, standardised by training data', hasTokens: false, selects: false, normalise: 'pool' },
  { name: 'all signals, by question', hasTokens: false, selects: false, normalise: 'question' },
  { name: 'few signals, by training data', hasTokens: false, selects: true, normalise: 'pool' },
  { name: 'few signals, by question', hasTokens: false, selects: true, normalise: 'question' },
  { name: 'all signals and tokens, by question', hasTokens: true, selects: false, normalise: 'question' },
  TOGETHER,
  { ...TOGETHER, name: 'few signals and tokens, as ranks', isRanked: true },
];

const ranked = new WeakMap<FeatureTable, FeatureTable>();

/** The signals of a source as a variant reads them. */
function readTable({ table }: Source, { isRanked }: Variant): FeatureTable {
  if (!isRanked) return table;
  const known = ranked.get(table) ?? rankSignals(table);
  ranked.set(table, known);
  return known;
}

/** The score of tokens that is measured alone. */
const TOKENS = 'late.context';

/** Questions of a dataset with their signals. */
export interface Source {
  readonly name: string;
  readonly table: FeatureTable;
  readonly learns: boolean;
  readonly hash: string;
  /** Names and content hashes of its conversations with questions, for the weight file. */
  readonly clusters: readonly string[];
  readonly contents: readonly string[];
}

async function openSource(
  config: TrainingConfig,
  name: string,
  learns: boolean,
  { cacheFolder, progress }: StudyContext,
) {
  const task = await LearningTask.open(config, { cacheFolder, progress });
  try {
    const { table, dataset } = task;
    // Conversations of two datasets are never one.
    const distinct = table.clusters.map((cluster) => `${name}: ${cluster}`);
    const clusters = [...new Set(table.clusters)];
    const all = groupContentHashes(dataset);
    const contents = clusters.flatMap((cluster) => all.get(cluster) ?? []);
    return { name, learns, hash: dataset.hash, clusters, contents, table: { ...table, clusters: distinct } };
  } finally {
    task.dispose();
  }
}

/** The datasets that are tested only: the targets, and the chats of a path. */
export function listTargets({ targets, chats }: Pick<Settings, 'targets' | 'chats'>): z.output<typeof target>[] {
  if (chats === null) return targets;
  const dataset = parse(datasetOptions, { name: 'jsonl', path: chats }, 'chats');
  const steps = [{ search: { newest: { k: 500 } } }];
  return [...targets, { name: 'chats', dataset, steps, limitQueries: null, without: [] }];
}

/** Opens every dataset: the config's own, those of `fit.transfer`, and the targets. */
async function openSources(config: TrainingConfig, given: Settings, context: StudyContext) {
  const { transfer } = config.fit;
  const sources: Source[] = [await openSource(config, config.dataset.name, true, context)];
  const away = (
    {
      dataset,
      steps,
      limitQueries,
    }: Pick<TrainingConfig['fit']['transfer'][number], 'dataset' | 'steps' | 'limitQueries'>,
    without: readonly string[] = [],
  ): TrainingConfig => {
    const groups = config.signals.groups.filter((group) => !without.includes(group));
    const signals = { ...config.signals, groups };
    const own = { ...config.arm, mix: { ...config.arm.mix, signals } };
    const arm = steps === undefined ? own : withPoolSteps(own, steps);
    return { ...config, dataset, arm, signals, evaluation: { ...config.evaluation, limitQueries, share: 1 } };
  };
  for (const other of transfer) {
    const path = given.paths[other.name];
    const dataset = path === undefined ? other.dataset : { ...other.dataset, path };
    sources.push(await openSource(away({ ...other, dataset } as typeof other), other.name, true, context));
  }
  for (const tested of listTargets(given))
    sources.push(await openSource(away(tested, tested.without), tested.name, false, context));
  return sources;
}

/** The signals of all tables, in the order of the first. */
function listSharedSignals(tables: readonly FeatureTable[], { hasTokens }: Pick<Variant, 'hasTokens'>): string[] {
  const [first, ...others] = tables as readonly [FeatureTable, ...FeatureTable[]];
  return first.signals.filter(
    (name) => (hasTokens || !name.startsWith('late.')) && others.every(({ signals }) => signals.includes(name)),
  );
}

function configureFit(config: TrainingConfig, variant: Variant, signals: readonly string[]): TrainingConfig {
  const { model, select } = config.fit;
  if (model.name !== 'linear')
    throw new ValidationError(`model of the fit is ${model.name}; name a config that fits a linear mix`);
  const fit = {
    ...config.fit,
    model: { ...model, signals: [...signals] },
    normalise: variant.normalise,
    select: variant.selects ? select : null,
  };
  return { ...config, fit };
}

interface Trained {
  readonly model: ScoringModel;
  readonly values: Float64Array;
  readonly path: readonly string[];
}

/** Learns a mix of some signals by the first point of the config's grid: inner folds choose nothing. */
function learn(
  config: TrainingConfig,
  variant: Variant,
  table: FeatureTable,
  shared: readonly string[],
  most: number,
): Promise<Trained> {
  const plan = buildSelectionPlan(configureFit(config, variant, shared));
  const [point] = plan.points as readonly [HyperParameters];
  const select = variant.selects ? { select: { sizes: [most] } } : {};
  const epochs = variant.selects ? most : config.fit.epochs;
  return fitPoint(table, { ...point, ...select, epochs }, { ...plan, seeds: [config.seed] });
}

/** A cell of the table: the mean of each metric. */
type Means = Readonly<Record<string, number>>;

function measure(table: FeatureTable, metrics: readonly string[], scores: Float32Array): Means {
  return Object.fromEntries(metrics.map((id) => [id, createTableMetric(table, id).mean(scores)]));
}

/** Measures a variant learned from a source on every source; on its own in halves, each learned from the other. */
export async function measureVariant(
  config: TrainingConfig,
  variant: Variant,
  source: Source,
  all: readonly Source[],
  { most, seed }: Settings,
) {
  const { metrics } = config.evaluation;
  const cells: Record<string, Means> = {};
  const kept = new Map<string, Trained>();
  for (const other of all) {
    const { name } = other;
    const table = readTable(other, variant);
    const shared = listSharedSignals([source.table, table], variant);
    if (name === source.name) {
      const scores = new Float32Array(table.mask.length);
      for (const { training, heldOut } of drawBalancedFolds(table, 2, seed)) {
        const { model, values } = await learn(config, variant, selectQueries(table, training), shared, most);
        putRows(await scoreTable(model, values, selectQueries(table, heldOut)), heldOut, table.width, scores);
      }
      cells[name] = measure(table, metrics, scores);
      continue;
    }
    const key = shared.join();
    const trained = kept.get(key) ?? (await learn(config, variant, readTable(source, variant), shared, most));
    kept.set(key, trained);
    cells[name] = measure(table, metrics, await scoreTable(trained.model, trained.values, table));
  }
  return { variant: variant.name, trainedOn: source.name, cells };
}

/** A selection on several sources together, on another: the metric of the config after each choice. */
async function measureSizes(
  config: TrainingConfig,
  variant: Variant,
  left: Source,
  others: readonly Source[],
  most: number,
) {
  const tables = others.map(({ table }) => table);
  const shared = listSharedSignals([...tables, left.table], variant);
  const merged = mergeTables(tables, shared);
  const plan = buildSelectionPlan(configureFit(config, variant, shared));
  const point = { ...(plan.points[0] as HyperParameters), epochs: most, select: { sizes: [most] }, seed: config.seed };
  const { curve, path } = await fitModel(plan.modelOf(merged), merged, left.table, point);
  return { name: left.name, curve: curve.map(({ validation }) => validation as number), path };
}

/** A mix of few signals of all sources that are learned from; of as many as are best on sources that are left out. */
export async function learnTogether(config: TrainingConfig, sources: readonly Source[], { most }: Settings) {
  const { metrics } = config.evaluation;
  const variant = TOGETHER;
  const learned = sources.filter(({ learns }) => learns);
  const curves: Awaited<ReturnType<typeof measureSizes>>[] = [];
  for (const left of learned)
    curves.push(
      await measureSizes(
        config,
        variant,
        left,
        learned.filter((one) => one !== left),
        most,
      ),
    );
  const length = Math.min(...curves.map(({ curve }) => curve.length));
  const mean = Array.from(
    { length },
    (_, size) => curves.reduce((sum, { curve }) => sum + curve[size]!, 0) / curves.length,
  );
  const size = mean.indexOf(Math.max(...mean));
  const learnMix = (tables: readonly FeatureTable[], shared: readonly string[]) =>
    learn(config, variant, mergeTables(tables, shared), shared, size);
  const cells: Record<string, Means> = {};
  for (const { name, table } of sources) {
    const others = learned.filter((one) => one.name !== name).map((one) => one.table);
    const shared = listSharedSignals([...others, table], variant);
    const { model, values } = await learnMix(others, shared);
    cells[name] = measure(table, metrics, await scoreTable(model, values, table));
  }
  const tables = learned.map(({ table }) => table);
  const whole = await learnMix(tables, listSharedSignals(tables, variant));
  return { row: { variant: `${variant.name}: ${size}`, trainedOn: 'all others', cells }, size, curves, mean, whole };
}

/** Measures what is not learned: the weights where a fit starts, and the tokens alone. */
async function measureUntrained(config: TrainingConfig, sources: readonly Source[]) {
  const { metrics } = config.evaluation;
  const cells: Record<string, Means>[] = [{}, {}];
  for (const { name, table } of sources) {
    const plan = buildSelectionPlan(configureFit(config, VARIANTS[0]!, table.signals));
    const model = plan.modelOf(table);
    const values = listHandTunedValues(model);
    cells[0]![name] = measure(table, metrics, await scoreTable(model, values, table));
    if (table.signals.includes(TOKENS)) cells[1]![name] = measure(table, metrics, copySignalColumn(table, TOKENS));
  }
  return ['weights set by hand', `tokens alone (${TOKENS})`].map((variant, i) => ({
    variant,
    trainedOn: '–',
    cells: cells[i] as Record<string, Means>,
  }));
}

/** Tells which of standardisation, selection and tokens makes weights of one kind of conversation work on another. */
export const transfer: Study<typeof settings> = {
  name: 'transfer',
  description: 'mixes learned on some datasets and tried on others: what makes them transfer',
  settings,
  measure: async (given, context) => {
    const config = readTraining(loadConfig(given.config, []));
    const sources = await openSources(config, given, context);
    const rows = await measureUntrained(config, sources);
    const learned = sources.filter(({ learns }) => learns);
    const stage = context.progress('mixes', VARIANTS.length * learned.length);
    let done = 0;
    for (const variant of VARIANTS)
      for (const source of learned) {
        rows.push(await measureVariant(config, variant, source, sources, given));
        stage.update(++done);
      }
    stage.finish(`${done} mixes`);
    const together = await learnTogether(config, sources, given);
    rows.push(together.row);
    const [metric = ''] = config.evaluation.metrics;
    const names = sources.map(({ name }) => name);
    const { model, keep } = keepSelected(together.whole.model as LinearModel, together.whole.path);
    const values = keep(together.whole.values);
    const weights: Record<string, number> = Object.assign({}, ...Object.values(nameParameterValues(model, values)));
    const paths = together.curves.map(({ path }) => path ?? []);
    const chosen = together.whole.path.map((signal) => [
      `\`${signal}\``,
      formatDecimal(weights[signal] as number, 3),
      ...paths.map((path) => (path.indexOf(signal) < 0 ? '–' : `${path.indexOf(signal) + 1}`)),
    ]);
    const cellsOf = (cells: Record<string, Means>) =>
      names.map((name) => (cells[name] === undefined ? '–' : formatDecimal(cells[name][metric] as number, 3)));
    const hash = sources.map((source) => source.hash).join(' ');
    return {
      dataset: { name: names.join(', '), hash },
      figures: { rows, sizes: { mean: together.mean, curves: together.curves, chosen: together.size }, weights },
      files: (_, { commit, backend }) => ({
        'weights-chats.safetensors': encodeWeights({
          model,
          values,
          provenance: {
            config: { ...given, signals: config.signals, embedding: config.embedding },
            dataHash: hash,
            seeds: [config.seed],
            commit,
            backend,
            trainingClusters: [...new Set(learned.flatMap(({ clusters }) => clusters))],
            trainingContents: [...new Set(learned.flatMap(({ contents }) => contents))],
          },
        }),
      }),
      sections: [
        formatPipeTable({
          head: ['mix', 'learned on', ...names],
          rows: rows.map(({ variant, trainedOn, cells }) => [variant, trainedOn, ...cellsOf(cells)]),
        }),
        `${metric} of dev questions: ${sources.map(({ name, table }) => `${name} ${table.queryIds.length}`).join(', ')}. On the dataset that a mix was learned on: each half of the conversations by what the other taught. A mix has the signals that both datasets have. The last row is learned on the other datasets together; the number of its signals is the best on average over datasets that were left out.`,
        formatPipeTable({
          head: ['signal of the mix of all', 'weight', ...together.curves.map(({ name }) => `without ${name}`)],
          rows: chosen,
        }),
        'After the weight: the place in the selection on the others, – where it was not chosen.',
      ],
    };
  },
};
