import * as tf from '@tensorflow/tfjs-core';
import { Bm25Index } from '../src/candidates/bm25.ts';
import { HnswIndex } from '../src/candidates/hnsw.ts';
import { HNSW_DEFAULTS } from '../src/candidates/hnsw-options.ts';
import { NewestFirstIndex } from '../src/candidates/newest-first.ts';
import type { ContextItem } from '../src/context/context-item.ts';
import { getOrCompute } from '../src/core/once.ts';
import { viewRow } from '../src/core/rows.ts';
import type { CandidateIndex, QueryBatch } from '../src/model/candidates.ts';
import { findLowerBound } from '../src/model/corpus.ts';
import { createEntityRegistry, type EntityRegistry } from '../src/query/entity-registry.ts';
import { type QueryUnderstanding, understand } from '../src/query/understand.ts';
import { diversityFilter } from '../src/rerank/diversity-filter.ts';
import { DIVERSITY_FILTER_DEFAULTS } from '../src/rerank/diversity-filter-options.ts';
import { computeSimilarities } from '../src/rerank/selection.ts';
import { computeMemorySignals, scoreMemorySignals } from '../src/signals/memory-signals.ts';
import type { BenchMemory, ContextData } from './context-data.ts';

/** The most candidates of each source, and of the selection. */
export const LIMITS = { semantic: 50, words: 50, entities: 30, time: 30, procedures: 20, summaries: 5, selected: 15 };
/** The least cosine of a semantic candidate. */
const COSINE_ABOVE = 0.5;

interface Ranked {
  readonly position: number;
  readonly score: number;
}

/** The parts of the way from a question to a context, over the same memories. */
export class ContextParts {
  readonly data: ContextData;
  readonly #registry: EntityRegistry;
  readonly #hnsw: HnswIndex;
  readonly #bm25: Bm25Index;
  readonly #newest: NewestFirstIndex;
  readonly #byEntity = new Map<string, number[]>();
  readonly #byType = new Map<BenchMemory['memoryType'], Int32Array>();
  readonly #dimension: number;
  /** [N] ascending. */
  readonly #times: Float64Array;

  private constructor(data: ContextData, registry: EntityRegistry) {
    const { memories, vectors } = data;
    const ids = memories.map(({ id }) => id);
    this.data = data;
    this.#registry = registry;
    this.#times = Float64Array.from(memories, ({ timestamp }) => timestamp);
    this.#dimension = vectors.length / memories.length;
    this.#hnsw = new HnswIndex(ids, vectors, this.#dimension, { ...HNSW_DEFAULTS, seed: 1 });
    this.#bm25 = new Bm25Index(
      ids,
      memories.map(({ text }) => text),
    );
    this.#newest = new NewestFirstIndex(ids.length);
    for (const [position, { entities }] of memories.entries())
      for (const id of new Set(entities)) getOrCompute(this.#byEntity, id, () => []).push(position);
    for (const type of ['procedural', 'summary'] as const)
      this.#byType.set(
        type,
        Int32Array.from(memories.flatMap(({ memoryType }, position) => (memoryType === type ? position : []))),
      );
  }

  /** Builds all indexes, and asks each once: the first search adds the vectors to the graph. */
  static async build(data: ContextData): Promise<ContextParts> {
    const parts = new ContextParts(data, await createEntityRegistry(data.entities));
    await parts.searchSemantic(0);
    return parts;
  }

  understand(question: number): Promise<QueryUnderstanding> {
    const text = this.data.questions[question] as string;
    return understand(text, { timestamp: this.data.now, timeZone: 'UTC', entities: this.#registry });
  }

  async searchSemantic(question: number, k = LIMITS.semantic): Promise<number[]> {
    return (await this.#search(this.#hnsw, question, k)).flatMap(({ position, score }) =>
      score > COSINE_ABOVE ? position : [],
    );
  }

  async searchWords(question: number): Promise<number[]> {
    return (await this.#search(this.#bm25, question, LIMITS.words)).map(({ position }) => position);
  }

  /** The newest memories of the entities that the question names. */
  async findByEntities({ entities }: QueryUnderstanding): Promise<number[]> {
    const named = new Set(entities.flatMap(({ canonicalId }) => this.#byEntity.get(canonicalId) ?? []));
    return this.#findNewest(Int32Array.from(named).sort(), LIMITS.entities);
  }

  /** The newest memories of the time that the question is about. */
  findByTime({ timeRange }: QueryUnderstanding): number[] {
    if (timeRange === null) return [];
    const [from, to] = [findLowerBound(this.#times, timeRange.start), findLowerBound(this.#times, timeRange.end)];
    return Array.from({ length: Math.min(LIMITS.time, to - from) }, (_, i) => to - 1 - i);
  }

  async searchType(question: number, type: 'procedural' | 'summary', k: number): Promise<number[]> {
    const found = await this.#search(this.#hnsw, question, k, this.#byType.get(type) as Int32Array);
    return found.map(({ position }) => position);
  }

  /** Candidates by the five signals, weighted by the strategy; best first. */
  rank(
    question: number,
    { entities, timeRange, strategy }: QueryUnderstanding,
    candidates: Iterable<number>,
  ): Ranked[] {
    const { memories, vectors, questionVectors, now } = this.data;
    const vector = viewRow(questionVectors, this.#dimension, question);
    const asked = { now, entities: entities.map(({ canonicalId }) => canonicalId), window: timeRange };
    return [...candidates]
      .map((position) => {
        const memory = memories[position] as BenchMemory;
        const row = viewRow(vectors, this.#dimension, position);
        const cosine = row.reduce((sum, value, d) => sum + value * (vector[d] as number), 0);
        const signals = computeMemorySignals({ ...memory, createdAt: memory.timestamp, cosine }, asked);
        return { position, score: scoreMemorySignals(signals, strategy.weights, memory.memoryType) };
      })
      .sort((a, b) => b.score - a.score || a.position - b.position);
  }

  /** Those that the diversity filter takes. */
  async select(ranked: readonly Ranked[]): Promise<Ranked[]> {
    const rows = Float32Array.from(
      ranked.flatMap(({ position }) => [...viewRow(this.data.vectors, this.#dimension, position)]),
    );
    const count = ranked.length;
    const slots = tf.tidy(() => {
      const similarities = computeSimilarities(tf.tensor3d(rows, [1, count, this.#dimension]));
      const relevance = tf.tensor2d([ranked.map(({ score }) => score)]);
      const mask = tf.ones([1, count], 'bool') as tf.Tensor2D;
      const options = { ...DIVERSITY_FILTER_DEFAULTS, k: LIMITS.selected };
      return diversityFilter({ relevance, similarities, mask }, options).slots;
    });
    const taken = await slots.data();
    slots.dispose();
    return [...taken].flatMap((slot) => (slot < 0 ? [] : (ranked[slot] as Ranked)));
  }

  describe({ position, score }: Ranked): ContextItem {
    const { id, text, timestamp, memoryType, session } = this.data.memories[position] as BenchMemory;
    return { id, text, score, timestamp, memoryType, session, source: `memory:${session}` };
  }

  async #search(index: CandidateIndex, question: number, k: number, list?: Int32Array): Promise<Ranked[]> {
    const batch: QueryBatch = {
      texts: [this.data.questions[question] as string],
      vectors: viewRow(this.data.questionVectors, this.#dimension, question).slice(),
      cutoffs: Int32Array.of(this.data.memories.length),
      ...(list !== undefined && { visible: [list] }),
    };
    const { positions, scores } = await index.search(batch, k);
    return [...positions].flatMap((position, i) => (position < 0 ? [] : { position, score: scores[i] as number }));
  }

  async #findNewest(visible: Int32Array, k: number): Promise<number[]> {
    const cutoffs = Int32Array.of(this.data.memories.length);
    const batch = { texts: [''], vectors: new Float32Array(0), cutoffs, visible: [visible] };
    return [...(await this.#newest.search(batch, k)).positions].filter((position) => position >= 0);
  }

  dispose(): void {
    for (const index of [this.#hnsw, this.#bm25, this.#newest]) index.dispose();
  }
}
