import { z } from 'zod';
import { selectQuery } from '../../bench/query-batch.ts';
import { median } from '../../bench/timing.ts';
import { recallAt } from '../../src/index/candidates/recall.ts';
import { buildUnchangingRows, FlatIndex } from '../../src/index/vectors/flat.ts';
import type { CandidateIndex, Candidates, QueryBatch } from '../../src/model/candidates.ts';
import type { Workspace } from '../../src/rank/signals/workspace.ts';
import { withConfig } from '../corpus.ts';
import { buildHnsw, measureGraphBytes } from '../hnsw-graph.ts';
import type { Study } from '../study.ts';
import { formatFrontierTable, formatGridTable, type GraphPoint } from './table.ts';

const buildIntegerListSchema = (...values: number[]) => z.array(z.int().min(1)).min(1).default(values);

const settings = z.strictObject({
  seed: z.int().default(20260101),
  /** Whose data and embeddings. */
  config: z.string().default('configs/latency.yaml'),
  /** The number of neighbours, and the k of the recall. */
  k: z.int().min(1).default(10),
  m: buildIntegerListSchema(4, 8, 16, 32),
  efConstruction: buildIntegerListSchema(40, 200),
  /** The library raises it to k. */
  efSearch: buildIntegerListSchema(10, 20, 40, 80, 128, 160),
});

/** Every query sees all turns, so that all are put to the same graph. */
function unlimitBatch({ batch, corpus }: Workspace): QueryBatch {
  return { ...batch, cutoffs: new Int32Array(batch.cutoffs.length).fill(corpus.size) };
}

/** The median of searches of one query each. */
async function measureMedianMilliseconds(index: CandidateIndex, batch: QueryBatch, k: number): Promise<number> {
  const times: number[] = [];
  for (const at of batch.cutoffs.keys()) {
    const query = selectQuery(batch, at);
    const started = performance.now();
    await index.search(query, k);
    times.push(performance.now() - started);
  }
  return median(times);
}

/** The exact result, and its time. */
async function searchExactly({ corpus, turnVectors, dimension }: Workspace, batch: QueryBatch, k: number) {
  const ids = corpus.turns.map(({ id }) => id);
  const index = new FlatIndex(ids, buildUnchangingRows(turnVectors, dimension));
  try {
    const found = await index.search(batch, k);
    return { found, milliseconds: await measureMedianMilliseconds(index, batch, k) };
  } finally {
    index.dispose();
  }
}

/** One graph, searched with each efSearch. */
async function measureGraphPoints(
  { corpus, turnVectors, dimension }: Workspace,
  batch: QueryBatch,
  oracle: Candidates,
  shape: { readonly m: number; readonly efConstruction: number; readonly seed: number },
  { k, efSearch: efs }: { readonly k: number; readonly efSearch: readonly number[] },
): Promise<GraphPoint[]> {
  const ids = corpus.turns.map(({ id }) => id);
  const built = await buildHnsw(ids, turnVectors, dimension, { ...shape, efSearch: efs[0] as number });
  try {
    const facts = { ...shape, buildSeconds: built.seconds, graphBytes: measureGraphBytes(built) / corpus.size };
    const points: GraphPoint[] = [];
    for (const efSearch of efs) {
      built.graph.setEf(efSearch);
      const recall = recallAt(k, await built.index.search(batch, k), oracle);
      points.push({ ...facts, efSearch, recall, milliseconds: await measureMedianMilliseconds(built.index, batch, k) });
    }
    return points;
  } finally {
    built.index.dispose();
  }
}

/** M, efConstruction and efSearch of the approximate index: the share of the exact result that it finds, and the time of a query. */
export const candidateStage: Study<typeof settings> = {
  name: 'candidate-stage',
  description: 'recall of hnsw against the exact index beside the time of a query, by M, efConstruction and efSearch',
  settings,
  measure: ({ config, seed, ...options }, context) =>
    withConfig(config, context, async ({ dataset, workspace }) => {
      const { k } = options;
      const batch = unlimitBatch(workspace);
      const exact = await searchExactly(workspace, batch, k);
      const shapes = options.m.flatMap((m) =>
        options.efConstruction.map((efConstruction) => ({ m, efConstruction, seed })),
      );
      const progress = context.progress('candidate-stage', shapes.length);
      const points: GraphPoint[] = [];
      for (const [done, shape] of shapes.entries()) {
        points.push(...(await measureGraphPoints(workspace, batch, exact.found, shape, options)));
        progress.update(done + 1);
      }
      progress.finish(`${shapes.length} graphs`);
      const queries = batch.cutoffs.length;
      return {
        dataset: { name: dataset.name, hash: dataset.hash },
        figures: { turns: workspace.corpus.size, queries, k, exactMilliseconds: exact.milliseconds, points },
        sections: [
          formatGridTable(points),
          `In each cell recall@${k} against the exact index, and the median milliseconds of ${queries} single queries; the exact index takes ${exact.milliseconds.toFixed(2)} ms. ${workspace.corpus.size} turns in ${workspace.dimension} dimensions.`,
          'Settings that no other beats in both:',
          formatFrontierTable(points, k),
        ],
      };
    }),
};
