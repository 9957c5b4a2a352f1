import { multiplyRows, viewRow } from '../src/core/tensors/rows.ts';
import { MEMORY_SOURCES, type MemorySource } from '../src/index/memories/memory-options.ts';
import { createIndex, type IndexOptions } from '../src/index/registry.ts';
import { selectMemories } from '../src/memory/context/memory-segments.ts';
import { type MemorySources, openMemorySources } from '../src/memory/context/memory-sources.ts';
import { memorySourcesSchema } from '../src/memory/context/memory-sources-options.ts';
import type { CandidateIndex } from '../src/model/candidates.ts';
import type { Encoder } from '../src/model/encoder.ts';
import { Corpus } from '../src/model/turns/corpus.ts';
import { readImportance } from '../src/model/turns/memory-fields.ts';
import { compareScored } from '../src/model/turns/tie-rule.ts';
import type { Turn } from '../src/model/turns/turn.ts';
import { STRATEGY_WEIGHTS } from '../src/rank/query/strategy.ts';
import { type AskedMemory, askMemory, KnownEntities, listTurnEntities } from '../src/rank/signals/asked-memories.ts';
import { computeMemorySignals, scoreMemorySignals } from '../src/rank/signals/memory-signals.ts';
import type { ContextData } from './context-data.ts';

/** The defaults of `openMemorySources`; no deadline, so that a slow question is measured and not left out. */
const SOURCES = memorySourcesSchema.parse({ timeoutMs: 600_000 });

interface Ranked {
  readonly id: string;
  readonly row: number;
  readonly score: number;
}

/** `openMemorySources` over invented memories, and its parts one by one. */
export class ContextParts {
  readonly data: ContextData;
  readonly sources: MemorySources;
  readonly #corpus: Corpus;
  readonly #entities: readonly (readonly string[])[];
  readonly #known: KnownEntities;
  readonly #indexes: ReadonlyMap<MemorySource, CandidateIndex>;

  private constructor(
    data: ContextData,
    sources: MemorySources,
    corpus: Corpus,
    entities: readonly (readonly string[])[],
    indexes: ReadonlyMap<MemorySource, CandidateIndex>,
  ) {
    this.data = data;
    this.sources = sources;
    this.#corpus = corpus;
    this.#entities = entities;
    this.#known = new KnownEntities(entities);
    this.#indexes = indexes;
  }

  /** The vectors of memories and questions are given: no model is measured. */
  static async build(data: ContextData): Promise<ContextParts> {
    const { memories, vectors, dimension, questions, questionVectors } = data;
    const rowOf = new Map(memories.map(({ id }, row) => [id, row]));
    const numbers = new Map(questions.map((text, number) => [text, number]));
    const encoder: Encoder = {
      name: 'given',
      identity: { vectors: 'given' },
      dimension,
      encode: async ([text]) => viewRow(questionVectors, dimension, numbers.get(text as string) as number).slice(),
      dispose() {},
    };
    const vectorOf = (id: string) => viewRow(vectors, dimension, rowOf.get(id) as number);
    const sources = await openMemorySources({ turns: memories, encoder, vectorOf }, SOURCES);
    const corpus = new Corpus(memories);
    const { entities } = await listTurnEntities(memories);
    const indexes = new Map<MemorySource, CandidateIndex>();
    for (const index of MEMORY_SOURCES) {
      const written = { index, k: SOURCES.limits[index] } as IndexOptions;
      indexes.set(index, await createIndex(written, { corpus, vectors, dimension, entities }));
    }
    return new ContextParts(data, sources, corpus, entities, indexes);
  }

  understand(question: number): Promise<AskedMemory> {
    const { questions, now } = this.data;
    return askMemory(questions[question] as string, { timestamp: now }, this.#known, this.#corpus.size);
  }

  /** What one source gives, best first. */
  async search(name: MemorySource, question: number, asked: AskedMemory): Promise<Turn[]> {
    const { questions, questionVectors, dimension } = this.data;
    const { positions } = await (this.#indexes.get(name) as CandidateIndex).search(
      {
        ...{ texts: [questions[question] as string], asked: [asked], cutoffs: Int32Array.of(this.#corpus.size) },
        vectors: viewRow(questionVectors, dimension, question).slice(),
      },
      SOURCES.limits[name],
    );
    return [...positions].flatMap((position) => (position < 0 ? [] : (this.#corpus.turns[position] as Turn)));
  }

  /** Candidates by the five signals, weighted by the strategy; best first. */
  rank(question: number, asked: AskedMemory, ids: Iterable<string>): Ranked[] {
    const { vectors, questionVectors, dimension, now } = this.data;
    return Array.from(ids, (id) => {
      const row = this.#corpus.getPosition(id);
      const turn = this.#corpus.turns[row] as Turn;
      const { memoryType = null, useCount = null } = (turn.attributes ?? {}) as Record<string, never>;
      const signals = computeMemorySignals(
        {
          ...{ entities: this.#entities[row] as readonly string[], createdAt: turn.timestamp, memoryType, useCount },
          cosine: multiplyRows(vectors, row, questionVectors, question, dimension),
          importance: readImportance(turn),
        },
        { now, entities: asked.entities, window: asked.window },
      );
      return { id, row, score: scoreMemorySignals(signals, STRATEGY_WEIGHTS[asked.strategy], memoryType) };
    }).sort(compareScored);
  }

  select(ranked: readonly Ranked[]): Promise<Ranked[]> {
    const { selection, least, most } = SOURCES;
    return selectMemories(ranked, this.data.vectors, this.data.dimension, selection, { least, most });
  }

  dispose(): void {
    this.sources.dispose();
    for (const index of this.#indexes.values()) index.dispose();
  }
}
