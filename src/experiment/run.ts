import { join } from 'node:path';
import type { BackendName } from '../core/backend.ts';
import { ValidationError } from '../core/errors.ts';
import { letEventsIn } from '../core/event-loop.ts';
import { hashOf } from '../core/hash.ts';
import { type StartProgress, silent } from '../core/progress.ts';
import { loadDataset } from '../datasets/registry.ts';
import { cachedEncoder } from '../embedding/embedding-cache.ts';
import { encoderSource } from '../embedding/registry.ts';
import { recallAt } from '../index/recall.ts';
import type { Dataset, Query } from '../model/dataset.ts';
import type { Qrels, Run } from '../model/run.ts';
import { Workspace } from '../retrieval/workspace.ts';
import type { ArmOptions, ExperimentConfig } from './config.ts';
import { splitDev } from './dev-split.ts';
import { captureEnvironment } from './environment.ts';
import { inspectedTurns, queryRecord } from './inspection.ts';
import { type ArmMeasurement, type Measurement, meanOf, measureArms, qrelsOf } from './measurement.ts';
import { type ArmRanking, inspectedRankings, rankArm, runOf } from './rankings.ts';
import type { ArmResult, ExperimentResult, RankedTurn } from './result.ts';
import { type TunedArm, tuneArms } from './tuning.ts';

export interface RunContext {
  /** The active backend, see `useBackend`. */
  readonly backend: BackendName;
  /** Where prepared datasets and embeddings are kept. */
  readonly cacheFolder: string;
  /** As it would be typed again. */
  readonly command: string;
  readonly progress?: StartProgress;
}

export interface FinishedRun {
  readonly result: ExperimentResult;
  /** The rankings of the evaluated queries, by arm name. */
  readonly runs: ReadonlyMap<string, Run>;
  readonly qrels: Qrels;
}

interface RankedArm extends TunedArm, ArmRanking {}

/** Notes how long each stage took, and shows it. */
class Stopwatch {
  readonly timings: { stage: string; seconds: number }[] = [];

  async time<T>(stage: string, work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    await letEventsIn();
    const result = await work();
    this.timings.push({ stage, seconds: (performance.now() - started) / 1000 });
    return result;
  }
}

/** The earliest queries of the splits that the table is about. */
function evaluatedQueries(dataset: Dataset, { split, limitQueries }: ExperimentConfig['evaluation']): Query[] {
  const of = (wanted: Query['split']) =>
    dataset.queries.filter((query) => query.split === wanted).slice(0, limitQueries ?? undefined);
  const queries = split === 'all' ? [...of('dev'), ...of('test')].sort((a, b) => a.timestamp - b.timestamp) : of(split);
  if (queries.length === 0) throw new ValidationError(`dataset ${dataset.name} has no query in split: ${split}`);
  return queries;
}

/** Embeds turns and queries with an encoder fitted on the turns of `fit` alone. */
async function openWorkspace(
  dataset: Dataset,
  queries: readonly Query[],
  fit: ReadonlySet<string>,
  config: ExperimentConfig,
  context: RunContext,
): Promise<Workspace> {
  const { corpus } = dataset;
  const { seed } = config;
  const progress = context.progress ?? silent;
  const fitTexts = corpus.turns.filter(({ conversationId }) => fit.has(conversationId)).map(({ text }) => text);
  const encoder = await cachedEncoder(
    encoderSource(config.embedding, { fitTexts, seed }),
    join(context.cacheFolder, 'embeddings'),
    progress,
  );
  try {
    const vectors = await encoder.encode(
      [...corpus.turns, ...queries].map(({ text }) => text),
      progress,
    );
    const split = corpus.size * encoder.dimension;
    return new Workspace({
      corpus,
      queries,
      dimension: encoder.dimension,
      turnVectors: vectors.subarray(0, split),
      queryVectors: vectors.subarray(split),
      seed,
      progress,
    });
  } finally {
    encoder.dispose();
  }
}

/** Deep enough for the metric: 10 of `mrr@10`. */
function cutoffOf(metric: string, depth: number): number {
  const [, cutoff] = metric.split('@');
  return cutoff === undefined ? depth : Number(cutoff);
}

/** Sets every arm's hyper-parameters on the held-out part of dev. */
async function tune(dataset: Dataset, config: ExperimentConfig, context: RunContext): Promise<TunedArm[]> {
  if (config.arms.every((arm) => Object.keys(arm.tune).length === 0))
    return tuneArms(config.arms, () => Promise.resolve(0));
  const { metric, holdout } = config.tuning;
  const { fit, tuning } = splitDev(dataset, holdout);
  const queries = tuning.slice(0, config.evaluation.limitQueries ?? undefined);
  const workspace = await openWorkspace(dataset, queries, fit, config, context);
  try {
    const depth = cutoffOf(metric, config.evaluation.depth);
    const stage = (context.progress ?? silent)('tuning', config.arms.length);
    const measure = async (arm: ArmOptions) =>
      meanOf(metric, runOf(workspace, await rankArm(workspace, arm, depth)), dataset, queries);
    const tuned = await tuneArms(config.arms, measure, (done) => stage.update(done));
    stage.finish(`${config.arms.length} arms on ${queries.length} dev queries`);
    return tuned;
  } finally {
    workspace.dispose();
  }
}

async function rankArms(
  workspace: Workspace,
  tuned: readonly TunedArm[],
  config: ExperimentConfig,
  progress: StartProgress,
): Promise<RankedArm[]> {
  const stage = progress('arms', tuned.length);
  const ranked: RankedArm[] = [];
  for (const arm of tuned) {
    ranked.push({ ...arm, ...(await rankArm(workspace, arm.options, config.evaluation.depth)) });
    stage.update(ranked.length);
  }
  stage.finish(`${ranked.length} arms on ${workspace.queries.length} queries`);
  return ranked;
}

/** How much of the exact index's answer each approximate one finds. */
async function recallRemarks(workspace: Workspace, config: ExperimentConfig): Promise<string[]> {
  const sources = new Map(
    config.arms
      .flatMap(({ candidates }) => candidates.filter(({ index }) => index === 'hnsw'))
      .map((source) => [hashOf(source), source]),
  );
  const remarks: string[] = [];
  for (const source of sources.values()) {
    const oracle = await workspace.candidates({ index: 'flat', k: source.k }, null);
    const found = await workspace.candidates(source, null);
    const depths = [...new Set([Math.min(10, source.k), source.k])];
    const figures = depths.map((depth) => `recall@${depth} ${recallAt(depth, found, oracle).toFixed(4)}`);
    remarks.push(`hnsw against the exact index: ${figures.join(', ')} (${workspace.queries.length} queries)`);
  }
  return remarks;
}

function armResult(arm: RankedArm, measurement: ArmMeasurement, rankings: RankedTurn[][]): ArmResult {
  const { options, tuned, retrieved } = arm;
  return {
    name: options.name,
    description: options.description,
    tuned,
    ...measurement,
    componentNames: [...retrieved.components.keys()],
    rankings,
  };
}

/** What is worth saying beside the table. */
async function remarksOf(
  workspace: Workspace,
  config: ExperimentConfig,
  { unanswerable }: Measurement,
): Promise<string[]> {
  const shown = `${unanswerable.slice(0, 5).join(', ')}${unanswerable.length > 5 ? ', …' : ''}`;
  const left =
    unanswerable.length === 0 ? [] : [`${unanswerable.length} queries without a relevant turn are left out: ${shown}`];
  return [...(await recallRemarks(workspace, config)), ...left];
}

/**
 * Runs an experiment from config to result: loads the data, tunes each arm on the held-out part of dev, embeds with an encoder fitted on all of dev, ranks,
 * measures. The result is the same for the same config, data and backend.
 */
export async function runExperiment(config: ExperimentConfig, context: RunContext): Promise<FinishedRun> {
  const progress = context.progress ?? silent;
  const watch = new Stopwatch();
  const dataset = await watch.time('dataset', () =>
    loadDataset(config.dataset, { cacheFolder: join(context.cacheFolder, 'datasets'), progress }),
  );
  const evaluated = evaluatedQueries(dataset, config.evaluation);
  const tuned = await watch.time('tuning', () => tune(dataset, config, context));
  const workspace = await watch.time('embedding', () =>
    openWorkspace(dataset, evaluated, dataset.devConversations, config, context),
  );
  try {
    const arms = await watch.time('arms', () => rankArms(workspace, tuned, config, progress));
    const runs = new Map(arms.map((arm) => [arm.options.name, runOf(workspace, arm)]));
    const { metrics, baseline, samples, level, inspect, split } = config.evaluation;
    const measurement = await watch.time('statistics', async () =>
      measureArms(runs, dataset, evaluated, { metrics, baseline, samples, level, seed: config.seed }),
    );
    const remarks = await watch.time('remarks', () => remarksOf(workspace, config, measurement));
    const rankings = arms.map((arm) => inspectedRankings(workspace, arm, measurement.queries, inspect));
    const { declaration, relevantGrade, gradeNames, facts, hash, name } = dataset;
    const result: ExperimentResult = {
      name: config.name,
      hash: hashOf([config, hash, context.backend]).slice(0, 12),
      description: config.description,
      environment: captureEnvironment(context.backend, config.seed, context.command),
      config,
      dataset: {
        name,
        ...declaration,
        relevantGrade,
        gradeNames,
        hash,
        split,
        facts,
        turns: inspectedTurns(dataset, measurement.queries, rankings.flat()),
      },
      queries: measurement.queries.map((query) => queryRecord(dataset, query)),
      metrics,
      statistics: { samples, level },
      baseline,
      arms: arms.map((arm, a) => armResult(arm, measurement.arms[a] as ArmMeasurement, rankings[a] as RankedTurn[][])),
      remarks,
      timings: watch.timings,
    };
    return { result, runs, qrels: qrelsOf(dataset, evaluated) };
  } finally {
    workspace.dispose();
  }
}
