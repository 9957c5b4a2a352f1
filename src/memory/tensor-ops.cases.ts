import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TensorOps } from '../core/tensors/tensor-op.harness.ts';
import { openMemory } from './engine/open-memory.ts';
import { computeRerankScores, type RerankedCandidate } from './engine/rerankers.ts';
import { openConsolidator } from './patterns/consolidator.ts';

const candidate = (score: number, ...embedding: number[]): RerankedCandidate => ({
  score,
  outcome: null,
  createdAt: 0,
  embedding: Float32Array.from(embedding),
});
const byRelevance = (...candidates: RerankedCandidate[]) =>
  computeRerankScores(candidates, { method: 'mmr', lambda: 0.5 }, 0);

const PLACE = { depth: 0, siblingOrder: 0, homogeneity: 0, temporal: 0, complexity: 0 };

/** The scores of records that have these vectors, for the query [1, 0]. */
async function query(...vectors: readonly (readonly number[])[]): Promise<number[]> {
  const memory = await openMemory({ dimension: 2, reranker: { method: 'mmr', lambda: 1 } });
  const records = vectors.map((vector, i) => ({
    id: `r${i}`,
    embedding: Float32Array.from(vector),
    context: '',
    createdAt: 0,
    trajectory: PLACE,
  }));
  try {
    await memory.addBatch(records);
    const { candidates } = await memory.query({
      embedding: Float32Array.of(1, 0),
      trajectory: PLACE,
      trajectoryWeight: 0.5,
    });
    return candidates.map(({ score }) => score);
  } finally {
    await memory.close();
  }
}

const TALK = ['The printer prints blank pages', 'The printer prints blank pages', 'Ada ordered new toner'];

/** The vector of the summary of two sentences; those of the texts are [1, 0], [1, 0] and [0, 1]. Empty without a summary. */
async function consolidate(texts: readonly string[], lambda = 0.3): Promise<number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-tensor-ops-'));
  const memory = await openMemory({ dimension: 2 });
  const vectors = [
    [1, 0],
    [1, 0],
    [0, 1],
  ] as const;
  const records = texts.map((context, i) => ({
    ...{ id: `r${i}`, context, createdAt: i, conversationId: 'c' },
    embedding: Float32Array.from(vectors[i] as readonly number[]),
  }));
  try {
    await memory.addBatch(records);
    const consolidator = await openConsolidator(memory, folder, { minEpisodes: 1, sentences: 2, lambda });
    const [change] = await consolidator.plan().finally(() => consolidator.close());
    return Array.from(change?.after?.embedding ?? []);
  } finally {
    await memory.close();
    rmSync(folder, { recursive: true });
  }
}

export const TENSOR_OPS: TensorOps = {
  openConsolidator: {
    use: () => consolidate(TALK),
    refuses: [[() => consolidate(TALK, 2), /lambda: expected .*1/]],
    edges: {
      duplicates: [() => consolidate(TALK.slice(0, 2)), [1, 0]],
      'one turn': [() => consolidate(TALK.slice(0, 1)), [1, 0]],
    },
  },
  openMemory: {
    use: () => query([1, 0], [0.6, 0.8]),
    refuses: [[() => query([1, 0, 0]), /embedding of record r0: expected 2, got 3/]],
    edges: {
      duplicates: [() => query([1, 0], [1, 0]), [1, 1]],
      'one turn': [() => query([0.6, 0.8]), [0.8]],
    },
  },
  computeRerankScores: {
    use: () => byRelevance(candidate(0.8, 1, 0), candidate(0.6, 0.6, 0.8)),
    refuses: [[() => byRelevance(candidate(1, 1), candidate(1, 1, 0)), /embedding of candidate 1: expected 1, got 2/]],
    edges: {
      duplicates: [() => byRelevance(candidate(0.8, 1, 0), candidate(0.8, 1, 0)), [0.4, -0.1]],
      'zero vectors': [() => byRelevance(candidate(0.8, 1, 0), candidate(0.6, 0, 0)), [0.4, 0.3]],
      'one turn': [() => byRelevance(candidate(0.8, 1, 0)), [0.4]],
    },
  },
};
