import { z } from 'zod';
import { ConfigurationError } from '../../src/core/errors/errors.ts';
import type { StartProgress } from '../../src/core/terminal/progress.ts';
import type { BertOptions } from '../../src/index/encoders/encoder-options.ts';
import { encodeTokenWeights } from '../../src/index/encoders/token-weights.ts';
import type { LateTexts } from '../../src/index/late/late-options.ts';
import { loadConfig } from '../../src/lab/config/config.ts';
import { groupContentHashes } from '../../src/lab/measure/passport.ts';
import { buildSelectionPlan } from '../../src/lab/training/fitted-methods.ts';
import { LearningTask } from '../../src/lab/training/learning-task.ts';
import { readTraining, type TrainingConfig } from '../../src/lab/training/training-config.ts';
import { fitWithSelection } from '../../src/rank/learning/cross-validation.ts';
import { buildWholeFold, type Fold, splitByCluster } from '../../src/rank/learning/folds.ts';
import { scoreTable } from '../../src/rank/learning/model.ts';
import { blendScores, type FoldScores, formatSystems, measureSystems } from '../beside-linear.ts';
import type { Findings, Study, StudyContext } from '../study.ts';
import { LastLayers } from './layers.ts';
import { countNumbers, createProjection, splitNumbers, type TokenModel } from './token-model.ts';
import { type Pairing, readTokenQuestions, TokenBatches } from './token-questions.ts';
import {
  drawControls,
  drawTokenStart,
  scoreRows,
  type TokenTraining,
  type Tunable,
  trainTokens,
  tuneTokens,
} from './tuning.ts';

const count = z.int().min(1);

/** Messages that teach without judgements: each asks for the message that it answers, or for the one before it. */
const messages = z.strictObject({
  config: z.string().min(1).default('configs/learning/late-transfer.yaml'),
  /** Changes of the config. */
  set: z.array(z.string()).default([]),
  pairs: z.enum(['answered', 'adjacent']),
});

/** The encoder of the tokens and whether they have a speaker, without signals. */
const TOKENS_ALONE = [
  'arms.learned.set.mix.signals.groups=[author]',
  'arms.learned.set.mix.fit.model.initial={author.named: 1}',
  'arms.learned.set.mix.signals.encoders=[]',
];
const NEWEST = 'arms.learned.steps.0={search: {newest: {k: 100}}}';
const SOURCES: z.input<typeof messages>[] = [
  { pairs: 'answered', set: TOKENS_ALONE },
  {
    pairs: 'adjacent',
    set: ['dataset={name: irc, path: irc}', NEWEST, 'evaluation.limitQueries=600', ...TOKENS_ALONE],
  },
  {
    pairs: 'answered',
    set: [
      'dataset={name: oasst, path: oasst.jsonl}',
      'arms.learned.steps=[{search: {newest: {k: 100}}}, {mix: {fit: {model: {name: linear}, loss: [infonce]}}}]',
      'evaluation.limitQueries=600',
      ...TOKENS_ALONE,
    ],
  },
];

const common = {
  seed: z.int().default(20260101),
  /** A config whose fit is linear, with late interaction among its signals. */
  config: z.string().min(1).default('configs/learning/late-locomo.yaml'),
  path: z.string().min(1).default('locomo10.json'),
  /** Weights of the learned tokens beside the linear mix, both standardised over the candidates of a question. */
  shares: z.array(z.number().positive()).default([0.2, 0.5]),
};

const projectionSettings = z.strictObject({
  ...common,
  projection: z
    .strictObject({
      rank: count.default(48),
      learningRate: z.number().positive().default(0.001),
      epochs: count.default(6),
      batch: count.default(16),
      turns: count.default(120),
      questions: count.nullable().default(null),
    })
    .prefault({}),
  /** Training before, on one source after the other. Null for none. */
  before: z
    .strictObject({ sources: z.array(messages).min(1).prefault(SOURCES), epochs: count.default(1) })
    .nullable()
    .prefault({}),
});
type ProjectionSettings = z.output<typeof projectionSettings>;

const layersSettings = z.strictObject({
  ...common,
  layers: z
    .strictObject({
      count: count.default(2),
      /** Rank of the adapters, see `LastLayers`. */
      rank: count.default(8),
      learningRate: z.number().positive().default(0.0002),
      epochs: count.default(1),
      batch: count.default(8),
      turns: count.default(32),
      questions: count.nullable().default(160),
    })
    .prefault({}),
});

type Settings = Pick<ProjectionSettings, keyof typeof common>;

/** The questions of a config with their tokens, and what they are measured by. */
interface Opened {
  readonly task: LearningTask;
  readonly batches: TokenBatches;
}

/** Opens the task of a config while it is used. */
async function useTokens<T>(
  config: TrainingConfig,
  { cacheFolder, progress }: StudyContext,
  use: (opened: Opened) => Promise<T>,
): Promise<T> {
  const task = await LearningTask.open(config, { cacheFolder, progress });
  try {
    const { groups, around } = config.signals;
    const author = groups.includes('author');
    const texts: LateTexts =
      around === 'none' ? { view: 'plain', author } : { view: 'context', author, ...(around && { around }) };
    return await use({ task, batches: new TokenBatches(await readTokenQuestions(task, texts)) });
  } finally {
    task.dispose();
  }
}

/** A projection and a gate on top of frozen vectors. */
function createProjected(batches: TokenBatches, rank: number, seed: number): Tunable {
  const { dimension } = batches.questions;
  const model: TokenModel = { form: createProjection(rank, dimension), dimension };
  const score = (theta: Float64Array, rows: Int32Array) => scoreRows(model, theta, batches, rows);
  return { model, batches, start: drawTokenStart(model, seed), score };
}

/** The last layers of an encoder and a gate. */
export function createLayered(batches: TokenBatches, layers: LastLayers, rank: number, seed: number): Tunable {
  const { questions } = batches;
  const { dimension } = questions;
  const model: TokenModel = { form: layers.createForm(rank), dimension };
  const plain: TokenModel = { ...model, form: createProjection(1, dimension) };
  const score = async (theta: Float64Array, rows: Int32Array) => {
    const { arrays, gate } = splitNumbers(model, theta);
    const encoded = new TokenBatches(await layers.encode(questions, model.form, arrays, rows));
    const numbers = new Float64Array(countNumbers(plain));
    numbers.set(gate, 2 * dimension);
    return scoreRows(plain, numbers, encoded, rows);
  };
  return { model, batches, start: drawTokenStart(model, seed), score };
}

/** The data of a training, for the weight file. */
interface TrainingData {
  readonly dataHash: string;
  readonly clusters: readonly string[];
  /** Content hashes of the conversations. */
  readonly contents: readonly string[];
}

function describeData({ table, dataset }: LearningTask): TrainingData {
  const clusters = [...new Set(table.clusters)];
  const all = groupContentHashes(dataset);
  return { dataHash: dataset.hash, clusters, contents: clusters.flatMap((cluster) => all.get(cluster) ?? []) };
}

/** Numbers trained on the dev messages of sources, one source after the other. */
async function pretrain(
  { projection: { rank, ...options }, seed }: ProjectionSettings,
  { sources, epochs }: NonNullable<ProjectionSettings['before']>,
  context: StudyContext,
): Promise<{ readonly theta: Float64Array; readonly seen: readonly TrainingData[] }> {
  const training = { ...options, epochs, seed };
  const seen: TrainingData[] = [];
  let theta: Float64Array | null = null;
  for (const { config, set, pairs } of sources)
    await useTokens(readTraining(loadConfig(config, set)), context, async ({ task, batches }) => {
      const rows = buildWholeFold(batches.questions.table).training;
      const stage = context.progress(`tokens of ${task.dataset.name}, before`, epochs);
      const onEpoch = async (_: Float64Array, epoch: number) => stage.update(epoch);
      const projected = createProjected(batches, rank, seed);
      const pairing = pairs === 'adjacent' ? { labels: batches.listAdjacent(rows) } : {};
      const change = { pairing, isInOrder: true, onEpoch };
      theta = await trainTokens({ ...projected, start: theta ?? projected.start }, rows, training, change);
      stage.finish(`${rows.length} messages`);
      seen.push(describeData(task));
    });
  return { theta: theta!, seen };
}

/** A candidate for training, with its options. */
interface Candidate {
  readonly name: string;
  readonly tunable: Tunable;
  readonly training: TokenTraining;
  /** Names of the null controls that it is trained with. */
  readonly controls: readonly string[];
}

interface TunedFold extends FoldScores {
  readonly epochs: Readonly<Record<string, number>>;
  readonly validation: Readonly<Record<string, readonly number[]>>;
}

/** The systems of a fold: the linear mix, the tokens untrained, and each candidate trained on the fold's questions. */
async function tuneFold(
  task: LearningTask,
  config: TrainingConfig,
  fold: Fold,
  candidates: readonly Candidate[],
  { seed, shares }: Settings,
  progress: StartProgress,
): Promise<TunedFold> {
  const fit = await fitWithSelection(task.features, fold, buildSelectionPlan(config));
  const held = await task.features.gatherRowsFor(fold.heldOut, fold.clusters);
  const linear = await scoreTable(fit.model, fit.values, held);
  const scores = new Map([['linear', linear]]);
  const [epochs, validation]: [Record<string, number>, Record<string, readonly number[]>] = [{}, {}];
  const inner = { folds: config.fit.innerFolds, metric: config.fit.metric };
  for (const { name, tunable, training, controls } of candidates) {
    // Untrained candidates differ where they were trained on other data.
    const untrained = controls.length === 0 ? `${name}, before` : 'untrained';
    if (!scores.has(untrained)) scores.set(untrained, await tunable.score(tunable.start, fold.heldOut));
    const tuned = await tuneTokens(tunable, fold.training, training, inner, progress);
    scores.set(name, await tunable.score(tuned.theta, fold.heldOut));
    epochs[name] = tuned.epochs;
    validation[name] = tuned.validation;
    const pairings: Readonly<Record<string, Pairing>> = drawControls(tunable.batches, fold.training, seed);
    for (const control of controls) {
      const pairing = pairings[control] as Pairing;
      const same = { ...training, epochs: Math.max(1, tuned.epochs) };
      const theta = await trainTokens(tunable, fold.training, same, { pairing });
      scores.set(`${name}, ${control}`, await tunable.score(theta, fold.heldOut));
    }
  }
  const tried = ['untrained', ...candidates.map(({ name }) => name)];
  const blends = tried.flatMap((name) => blendScores(held, linear, [name, scores.get(name)!], shares));
  return { held, epochs, validation, scores: new Map([...scores, ...blends]) };
}

/** The encoder whose last layers are trained. @throws ConfigurationError for another one. */
function readBertOptions({ embedding }: TrainingConfig, { config }: Settings): BertOptions {
  if (embedding.encoder === 'bert') return embedding;
  throw new ConfigurationError(config, [{ path: 'embedding.encoder', expected: 'bert', got: embedding.encoder }]);
}

function listProjections(batches: TokenBatches, given: ProjectionSettings, start: Float64Array | null): Candidate[] {
  const { seed, projection } = given;
  const tunable = createProjected(batches, projection.rank, seed);
  const training = { ...projection, seed };
  const controls = ['shuffled labels', 'shuffled tokens'];
  const candidates: Candidate[] = [{ name: 'projection', tunable, training, controls }];
  if (start !== null)
    candidates.push({ name: 'pretrained projection', tunable: { ...tunable, start }, training, controls: [] });
  return candidates;
}

/** The last of the projections trained on all questions, for the median of the epochs that the folds chose. */
async function trainOnAll({ tunable, training, name }: Candidate, folds: readonly Pick<TunedFold, 'epochs'>[]) {
  const chosen = folds.map(({ epochs }) => epochs[name] as number).sort((a, b) => a - b);
  const epochs = chosen[Math.floor((chosen.length - 1) / 2)] as number;
  const rows = buildWholeFold(tunable.batches.questions.table).training;
  return { epochs, theta: await trainTokens(tunable, rows, { ...training, epochs }) };
}

/** Each candidate beside the linear mix, by conversations that it has not seen. */
async function measureCandidates(
  { task, batches }: Opened,
  config: TrainingConfig,
  candidates: readonly Candidate[],
  given: Settings,
  context: StudyContext,
): Promise<{ readonly findings: Findings; readonly folds: readonly TunedFold[] }> {
  const { metrics } = config.evaluation;
  const conversations = splitByCluster(task.table);
  const stage = context.progress('folds', conversations.length);
  const folds: TunedFold[] = [];
  for (const fold of conversations) {
    folds.push(await tuneFold(task, config, fold, candidates, given, context.progress));
    stage.update(folds.length);
  }
  stage.finish(`${folds.length} folds`);
  const systems = measureSystems(folds, metrics, given.seed);
  const epochs = candidates.map(
    ({ name, tunable: { model }, training }) =>
      `${name} (${countNumbers(model)} numbers, of 0 to ${training.epochs}): ${folds.map((fold) => fold.epochs[name]).join(', ')}`,
  );
  const findings = {
    dataset: { name: task.dataset.name, hash: task.dataset.hash },
    figures: { systems, folds: folds.map((fold) => ({ epochs: fold.epochs, validation: fold.validation })) },
    sections: [
      formatSystems(systems, metrics, folds.length),
      `${batches.questions.questions.length} questions, ${folds.length} folds of a conversation each. Epochs that ${config.fit.innerFolds} inner folds chose: ${epochs.join('; ')}. Controls are trained for as many epochs, at least one. After the difference: the conversations in which it is above 0. Brackets: 95 % intervals, clustered by conversation; nothing is corrected for ${systems.length - 1} systems.`,
    ],
  };
  return { findings, folds };
}

const readConfig = ({ config, path }: Settings) => readTraining(loadConfig(config, [`dataset.path=${path}`]));

/** Tells whether frozen tokens under a trained projection beat frozen ones. */
export const tokenTuning: Study<typeof projectionSettings> = {
  name: 'token-tuning',
  description: 'trained tokens of late interaction: a projection with a gate',
  settings: projectionSettings,
  measure: async (given, context) => {
    const config = readConfig(given);
    return useTokens(config, context, async (opened) => {
      const pretrained = given.before === null ? null : await pretrain(given, given.before, context);
      const candidates = listProjections(opened.batches, given, pretrained?.theta ?? null);
      const { findings, folds } = await measureCandidates(opened, config, candidates, given, context);
      const last = candidates.at(-1) as Candidate;
      const { model } = last.tunable;
      const { epochs, theta } = await trainOnAll(last, folds);
      const { arrays, gate } = splitNumbers(model, theta);
      const [up, down] = arrays as [Float32Array, Float32Array];
      const seen = [describeData(opened.task), ...(pretrained?.seen ?? [])];
      return {
        ...findings,
        files: (_, { commit, backend }) => ({
          'weights-tokens.safetensors': encodeTokenWeights({
            dimension: model.dimension,
            ...{ up, down, gate },
            provenance: {
              settings: { ...given, epochs },
              dataHash: seen.map(({ dataHash }) => dataHash).join(' '),
              ...{ seed: given.seed, commit, backend },
              trainingClusters: seen.flatMap(({ clusters }) => clusters),
              trainingContents: [...new Set(seen.flatMap(({ contents }) => contents))],
            },
          }),
        }),
      };
    });
  },
};

/** Tells whether tokens of an encoder whose last layers are trained beat its own. */
export const tokenLayers: Study<typeof layersSettings> = {
  name: 'token-layers',
  description: 'trained tokens of late interaction: the last layers of the encoder, with a gate',
  settings: layersSettings,
  measure: async (given, context) => {
    const config = readConfig(given);
    const bert = readBertOptions(config, given); // before any work
    return useTokens(config, context, async (opened) => {
      const { batches } = opened;
      const layers = await LastLayers.open(bert, batches.questions.texts, given.layers.count, context.progress);
      try {
        const tunable = createLayered(batches, layers, given.layers.rank, given.seed);
        const training = { ...given.layers, seed: given.seed };
        const candidates = [{ name: 'last layers', tunable, training, controls: ['shuffled labels'] }];
        return (await measureCandidates(opened, config, candidates, given, context)).findings;
      } finally {
        layers.dispose();
      }
    });
  },
};
