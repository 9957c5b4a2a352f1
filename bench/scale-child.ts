import { join } from 'node:path';
import hnswlib from 'hnswlib-node';
import { ValidationError } from '../src/core/errors/errors.ts';
import { useBackend } from '../src/core/tensors/backend.ts';
import { loadDataset } from '../src/data/registry.ts';
import type { ArmOptions, ExperimentConfig } from '../src/lab/config/config.ts';
import { measureArms } from '../src/lab/measure/measurement.ts';
import { stageVersion } from '../src/lab/run/environment.ts';
import { StageCache } from '../src/lab/run/stage-cache.ts';
import { openWorkspace } from '../src/lab/run/workspaces.ts';
import type { Dataset, Query } from '../src/model/dataset.ts';
import { candidatesFrom } from '../src/rank/retrieval/candidate-sources.ts';
import { buildRun, listRankedPositions, rankArm } from '../src/rank/retrieval/retriever.ts';
import { readArm } from '../src/rank/retrieval/written-steps.ts';
import type { Workspace } from '../src/rank/signals/workspace.ts';
import { readPeakMemoryBytes, resetPeakMemory } from './peak-memory.ts';

/** A run from the files to the figures in a process of its own. */
export interface ScaleTask {
  readonly config: ExperimentConfig;
  /** Empty. */
  readonly cacheFolder: string;
  /** The number of queries. */
  readonly queries: number;
  /** True if hnswlib alone is measured beside the run. */
  readonly withHnswlib: boolean;
}

/** The cost of a step. */
export interface StepCost {
  readonly step: string;
  /** Of the processor, which other work on the machine does not lengthen much. */
  readonly seconds: number;
  /** Peak memory in bytes, including the rest of earlier steps. */
  readonly peak: number;
  /** True if the step is that of a named peer, for comparison, and not part of the run. */
  readonly isPeer: boolean;
}

export interface ScaleCost {
  readonly turns: number;
  readonly queries: number;
  readonly steps: readonly StepCost[];
  /** On the clock, of all steps. */
  readonly wallSeconds: number;
  readonly backend: string;
}

/** Queries from all of a split's time, the last one included, so that an index is replayed to its end. */
function spreadQueries(dataset: Dataset, count: number): Query[] {
  const test = dataset.queries.filter(({ split }) => split === 'test');
  const asked = Math.min(count, test.length);
  return Array.from({ length: asked }, (_, i) => test[Math.ceil(((i + 1) * test.length) / asked) - 1] as Query);
}

class Steps {
  readonly costs: StepCost[] = [];

  async take<T>(step: string, work: () => T | Promise<T>, isPeer = false): Promise<T> {
    process.send!(step);
    resetPeakMemory();
    const before = process.cpuUsage();
    const result = await work();
    const { user, system } = process.cpuUsage(before); // microseconds
    const cost = { step, seconds: (user + system) / 1e6, peak: readPeakMemoryBytes(), isPeer };
    this.costs.push(cost);
    process.stderr.write(`  ${step}: ${cost.seconds.toFixed(1)} s, ${(cost.peak / 2 ** 20).toFixed(0)} MiB\n`);
    return result;
  }
}

const listIndexes = (arm: ArmOptions) => readArm(arm).outline.sources.map(({ index }) => index);

/** Adds every turn to a graph of hnswlib, with the settings of the arms' source. */
function buildHnswlib({ turnVectors, dimension, corpus }: Workspace, arms: readonly ArmOptions[], seed: number): void {
  const source = listIndexes(arms[0] as ArmOptions).find(({ index }) => index === 'hnsw');
  if (source?.index !== 'hnsw') throw new ValidationError('the first arm has no source with index hnsw; add one');
  const graph = new hnswlib.HierarchicalNSW('cosine', dimension);
  graph.initIndex(corpus.size, source.m, source.efConstruction, seed);
  for (let position = 0; position < corpus.size; position++)
    graph.addPoint(Array.from(turnVectors.subarray(position * dimension, (position + 1) * dimension)), position);
}

async function rankAll(workspace: Workspace, arms: readonly ArmOptions[], depth: number) {
  const runs = new Map<string, ReturnType<typeof buildRun>>();
  for (const arm of arms) {
    const ranked = listRankedPositions(await rankArm(workspace, arm, depth));
    runs.set(arm.name, buildRun(workspace.corpus, workspace.queries, ranked));
  }
  return runs;
}

async function measureScale({ config, cacheFolder, queries: count, withHnswlib }: ScaleTask): Promise<ScaleCost> {
  const backend = await useBackend(config.backend);
  const started = performance.now();
  const steps = new Steps();
  const dataset = await steps.take('dataset', () =>
    loadDataset(config.dataset, { cacheFolder: join(cacheFolder, 'datasets') }),
  );
  const queries = spreadQueries(dataset, count);
  const source = { dataset, config, cacheFolder, store: new StageCache(cacheFolder), code: stageVersion };
  const open = () => openWorkspace(source, queries, dataset.devConversations);
  (await steps.take('embedding', open)).dispose();
  const workspace = await steps.take('embedding, from the cache', open);
  const { arms } = config;
  for (const options of listIndexes(arms[0] as ArmOptions))
    await steps.take(`candidates, ${options.index}`, () => workspace.get(candidatesFrom(options, null)));
  if (withHnswlib) await steps.take('hnswlib alone', () => buildHnswlib(workspace, arms, config.seed), true);
  const { depth, baseline, metrics, samples, level } = config.evaluation;
  const runs = await steps.take('rerank', () => rankAll(workspace, arms, depth));
  await steps.take('measure', () =>
    measureArms(runs, dataset, queries, { baseline, metrics, samples, level, seed: config.seed }),
  );
  workspace.dispose();
  const wallSeconds = (performance.now() - started) / 1000;
  return { turns: dataset.corpus.size, queries: queries.length, steps: steps.costs, wallSeconds, backend };
}

process.send!(await measureScale(JSON.parse(process.argv[2]!) as ScaleTask));
