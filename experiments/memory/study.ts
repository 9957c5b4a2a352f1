import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { drawClusteredVectors } from '../../bench/clustered-vectors.ts';
import { writeSyntheticThreads } from '../../bench/synthetic-threads.ts';
import { loadDataset } from '../../src/data/registry.ts';
import { HNSW_DEFAULTS } from '../../src/index/vectors/vector-kind.ts';
import { BM25_DEFAULTS } from '../../src/index/words/bm25.ts';
import type { Corpus } from '../../src/model/turns/corpus.ts';
import { withConfig } from '../corpus.ts';
import type { Study } from '../study.ts';
import { measureMemoryByPart } from './parts.ts';
import { type CorpusMemory, formatMemoryTable } from './table.ts';

const settings = z.strictObject({
  seed: z.int().default(20260101),
  /** Whose data and embeddings. */
  config: z.string().default('configs/latency.yaml'),
  /** A synthetic corpus for comparison: the approximate number of turns, and the numbers of a vector. */
  synthetic: z
    .strictObject({ turns: z.int().min(1).default(10_000), dimension: z.int().min(1).default(768) })
    .prefault({}),
  /** Links of an hnsw node on each layer above the lowest. */
  m: z.int().min(2).default(HNSW_DEFAULTS.m),
});

async function buildSyntheticCorpus(turns: number, seed: number): Promise<Corpus> {
  const path = mkdtempSync(join(tmpdir(), 'ragpp-memory-'));
  try {
    writeSyntheticThreads(path, turns, seed);
    const options = { name: 'jsonl', path, onDirtyRow: 'error', relevantGrade: 1 } as const;
    return (await loadDataset(options, { cacheFolder: path })).corpus;
  } finally {
    rmSync(path, { recursive: true });
  }
}

/** Bytes a turn, measured on the structures that a run searches and scores with. */
export const memory: Study<typeof settings> = {
  name: 'memory',
  description: 'bytes a turn by part: text, metadata, embedding, hnsw graph, coordinates, postings',
  settings,
  measure: ({ config, seed, synthetic, m }, context) =>
    withConfig(config, context, async ({ dataset, workspace }) => {
      const measure = async (name: string, corpus: Corpus, vectors: Float32Array, dimension: number) => {
        const progress = context.progress(`memory of ${name}`, 1);
        const hnsw = { ...HNSW_DEFAULTS, m, seed };
        const bm25 = { ...BM25_DEFAULTS, dropStopWords: true, stem: true };
        const components = new Int32Array(corpus.size).fill(1); // the size of tables does not depend on their content
        const bytes = await measureMemoryByPart({ corpus, vectors, dimension, components, hnsw, bm25 });
        progress.finish(`${corpus.size} turns`);
        return { name, turns: corpus.size, dimension, bytes };
      };
      const { corpus, turnVectors, dimension } = workspace;
      const made = await buildSyntheticCorpus(synthetic.turns, seed);
      const madeVectors = drawClusteredVectors(made.size, synthetic.dimension, seed, 'turns');
      const corpora: CorpusMemory[] = [
        await measure(dataset.name, corpus, turnVectors, dimension),
        await measure('synthetic', made, madeVectors, synthetic.dimension),
      ];
      return {
        dataset: { name: dataset.name, hash: dataset.hash },
        figures: { m, corpora },
        sections: [
          formatMemoryTable(corpora),
          `Bytes a turn. The hnsw graph (M ${m}) is what the library saves besides the vectors; all else is what the process holds more with the part than without, after garbage collection.`,
        ],
      };
    }),
};
