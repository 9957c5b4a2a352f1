import type { HnswOptions } from '../../src/index/vectors/vector-kind.ts';
import { Bm25Index, type Bm25Options } from '../../src/index/words/bm25.ts';
import type { Corpus } from '../../src/model/turns/corpus.ts';
import { openFrames } from '../../src/ops/trajectory/frame-tables.ts';
import { buildHnsw, measureGraphBytes } from '../hnsw-graph.ts';
import { measureHeldBytes } from './held-bytes.ts';

/** The stored form of a memory. */
interface MemoryInputs {
  readonly corpus: Corpus;
  /** Row-major [N, D], unit rows. */
  readonly vectors: Float32Array;
  readonly dimension: number;
  /** [N] semantic components. */
  readonly components: Int32Array;
  readonly hnsw: HnswOptions;
  readonly bm25: Bm25Options;
}

export const PARTS = ['text', 'metadata', 'embedding', 'hnsw graph', 'coordinates', 'bm25 postings'] as const;
export type Part = (typeof PARTS)[number];

/** A string of its own, not a piece of the file that it was read from. */
function copyString(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

/** Bytes by part for a corpus of N turns. */
export async function measureMemoryByPart(inputs: MemoryInputs): Promise<Record<Part, number>> {
  const { corpus, vectors, dimension, components, hnsw, bm25 } = inputs;
  const ids = corpus.turns.map(({ id }) => id);
  const texts = corpus.turns.map(({ text }) => text);
  const built = await buildHnsw(ids, vectors, dimension, hnsw);
  try {
    return {
      text: await measureHeldBytes(() => texts.map(copyString)),
      metadata: await measureHeldBytes(() => corpus.turns.map(({ text: _, ...rest }) => structuredClone(rest))),
      embedding: await measureHeldBytes(() => vectors.slice()),
      'hnsw graph': measureGraphBytes(built),
      coordinates: await measureHeldBytes(() => {
        const frames = openFrames(corpus, vectors, components.slice());
        return [frames, corpus.conversations.map((_, conversation) => frames.tables(conversation))];
      }),
      'bm25 postings': await measureHeldBytes(() => new Bm25Index(ids, texts, bm25)),
    };
  } finally {
    built.index.dispose();
  }
}
