import { createRandom } from '../src/core/numbers/random.ts';
import { loadUseLite } from '../src/index/encoders/use-lite.ts';
import { DenseTensorPageRank } from '../src/ops/pagerank/dense-tensor-pagerank.ts';
import { SparseTensorPageRank } from '../src/ops/pagerank/sparse-tensor-pagerank.ts';
import { buildTransitionsFromEdges } from '../src/ops/pagerank/transition-matrix.ts';
import { train } from '../src/rank/learning/training.ts';
import { findPool } from '../src/rank/retrieval/candidate-sources.ts';
import { scorePool } from '../src/rank/retrieval/retriever.ts';
import { readArm } from '../src/rank/retrieval/written-steps.ts';
import { buildTrainingOptions, drawLearningWorkload } from './learning-workload.ts';
import { benchGraph, benchQueries } from './pagerank-graph.ts';
import { buildRerankArms, createFreshPools } from './rerank-timing.ts';
import { createBatchWorkspace, drawRerankWorld } from './rerank-workload.ts';

/** Work on the active backend, with its tensors there. */
interface OpenWorkload {
  run(): Promise<ArrayLike<number>>;
  dispose(): void;
}

export interface BackendWorkload {
  readonly name: string;
  open(): Promise<OpenWorkload>;
}

export interface WorkloadSizes {
  /** Turns of each conversation. */
  readonly dimension: number;
  /** Texts of use-lite. */
  readonly texts: number;
  /** Queries, candidates, signals and epochs of a training. */
  readonly learning: {
    readonly queries: number;
    readonly candidates: number;
    readonly signals: number;
    readonly epochs: number;
  };
  /** Turns of the corpus, candidates of a query, and queries at once. */
  readonly rerank: { readonly turns: number; readonly candidates: number; readonly batches: readonly number[] };
  readonly pagerank: { readonly nodes: number; readonly edges: number; readonly batch: number };
  readonly seed: number;
}

/** Those of the benches of one workload each. */
export const FULL_SIZES: WorkloadSizes = {
  dimension: 512,
  texts: 64,
  learning: { queries: 10_000, candidates: 100, signals: 16, epochs: 10 },
  rerank: { turns: 3216, candidates: 200, batches: [1, 64] },
  pagerank: { nodes: 5400, edges: 50_000, batch: 32 },
  seed: 7,
};

export const doNothing = () => {};

const WORDS = 'the a report meeting on Monday please send me your last version of this file before we leave'.split(' ');

function useLite({ texts: count, seed }: WorkloadSizes): BackendWorkload {
  return {
    name: `use-lite, ${count} texts`,
    open: async () => {
      const source = createRandom(seed, 'texts');
      const drawTextOfWords = () =>
        Array.from({ length: 4 + source.integer(40) }, () => WORDS[source.integer(WORDS.length)]);
      const texts = Array.from({ length: count }, () => drawTextOfWords().join(' '));
      const encoder = await loadUseLite();
      return { run: () => encoder.encode(texts), dispose: () => encoder.dispose() };
    },
  };
}

export function buildLearningWorkload({ learning: sizes, seed }: WorkloadSizes): BackendWorkload {
  return {
    name: `learning, ${sizes.epochs} epochs`,
    open: async () => {
      const settings = { ...sizes, repeats: 1, seed };
      const { table, model } = drawLearningWorkload(settings);
      const run = async () => {
        const { curve } = await train(model, table, null, buildTrainingOptions(settings));
        return curve.slice(1).map(({ loss }) => loss as number);
      };
      return { run, dispose: doNothing };
    },
  };
}

export function buildRerankWorkload(
  batch: number,
  { rerank: { turns, candidates }, dimension, seed }: WorkloadSizes,
): BackendWorkload {
  return {
    name: `rerank, ${batch} ${batch === 1 ? 'query' : 'queries'} at once`,
    open: async () => {
      const workspace = createBatchWorkspace(drawRerankWorld(turns, batch, dimension, seed), batch);
      const { whole } = buildRerankArms(candidates);
      const fresh = createFreshPools(await findPool(workspace, null, readArm(whole).outline));
      const run = async () => (await scorePool(workspace, fresh(), whole)).scores;
      return { run, dispose: () => workspace.dispose() };
    },
  };
}

const TENSOR_SOLVERS = { sparse: SparseTensorPageRank, dense: DenseTensorPageRank };

export function buildPageRankWorkload(
  kind: keyof typeof TENSOR_SOLVERS,
  { pagerank: { nodes, edges, batch }, seed }: WorkloadSizes,
): BackendWorkload {
  return {
    name: `PageRank, ${kind} tensor, ${batch} queries`,
    open: async () => {
      const graph = benchGraph('clustered', nodes, edges, seed);
      const queries = benchQueries(graph, batch, seed);
      const solver = new TENSOR_SOLVERS[kind](buildTransitionsFromEdges(graph.nodeIds, graph.edges), {
        damping: 0.5,
        tolerance: 1e-6,
      });
      return { run: async () => (await solver.solve(queries)).scores, dispose: () => solver.dispose() };
    },
  };
}

/** The parts of the project that compute most with tensors. */
export function listBackendWorkloads(sizes: WorkloadSizes): BackendWorkload[] {
  return [
    useLite(sizes),
    buildLearningWorkload(sizes),
    ...sizes.rerank.batches.map((batch) => buildRerankWorkload(batch, sizes)),
    buildPageRankWorkload('sparse', sizes),
  ];
}
