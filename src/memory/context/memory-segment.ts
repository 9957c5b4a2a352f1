import { MEMORY_SOURCES, type MemorySource } from '../../index/memories/memory-options.ts';
import { createIndex, type IndexOptions } from '../../index/registry.ts';
import type { CandidateIndex } from '../../model/candidates.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { AskedMemory } from '../../rank/signals/asked-memories.ts';
import type { MemorySourcesOptions } from './memory-sources-options.ts';
import { describeTurn } from './source.ts';

/** The two kinds of turns, each of which is a source of a context. */
export const TURN_KINDS = Object.freeze(['documents', 'memories'] as const);
/** One of {@link TURN_KINDS}. */
export type TurnKind = (typeof TURN_KINDS)[number];

/** A turn with what its signals are computed from. */
export interface MemoryRow {
  readonly turn: Turn;
  /** [D] */
  readonly vector: Float32Array;
  readonly entities: readonly string[];
}

/** A row that an index found. */
export interface FoundRow extends MemoryRow {
  readonly id: string;
  readonly score: number;
}

/** The question to one source. */
export interface SegmentQuestion {
  readonly text: string;
  readonly question: AskedMemory;
  /** Empty for a source that does not compare vectors. */
  readonly vector: Float32Array;
  readonly now: number;
  readonly kind: TurnKind;
  /** Accepts the turns that may be found; null: all. */
  readonly accepts: ((turn: Turn) => boolean) | null;
}

const readKind = (turn: Turn): TurnKind => (describeTurn(turn, 0).memoryType === 'document' ? 'documents' : 'memories');

/** Rows that are indexed together, some of them hidden later. Owns its indexes, and frees them after the last search. */
export class MemorySegment {
  readonly #corpus: Corpus;
  readonly #rows: ReadonlyMap<string, MemoryRow>;
  readonly #indexes: ReadonlyMap<MemorySource, CandidateIndex>;
  /** The ascending positions of each kind that are not hidden; null after one was. */
  #positions: Readonly<Record<TurnKind, Int32Array>> | null = null;
  readonly #hidden = new Set<string>();
  #users = 0;
  #isRetired = false;

  private constructor(
    corpus: Corpus,
    rows: ReadonlyMap<string, MemoryRow>,
    indexes: ReadonlyMap<MemorySource, CandidateIndex>,
  ) {
    this.#corpus = corpus;
    this.#rows = rows;
    this.#indexes = indexes;
  }

  /** @throws ValidationError for turns that are no corpus, and for vectors that are no unit vectors. */
  static async build(
    rows: readonly MemoryRow[],
    dimension: number,
    { limits, minCosine }: MemorySourcesOptions,
  ): Promise<MemorySegment> {
    const byId = new Map(rows.map((row) => [row.turn.id, row]));
    const corpus = new Corpus(rows.map(({ turn }) => turn));
    const ordered = corpus.turns.map(({ id }) => byId.get(id) as MemoryRow);
    const vectors = new Float32Array(ordered.length * dimension);
    for (const [row, { vector }] of ordered.entries()) vectors.set(vector, row * dimension);
    const given = { corpus, vectors, dimension, entities: ordered.map(({ entities }) => entities) };
    const indexes = new Map<MemorySource, CandidateIndex>();
    try {
      for (const index of MEMORY_SOURCES) {
        if (limits[index] === 0) continue;
        const written = { index, k: limits[index], ...(index === 'semantic' && { minCosine }) } as IndexOptions;
        indexes.set(index, await createIndex(written, given));
      }
    } catch (error) {
      for (const index of indexes.values()) index.dispose();
      throw error;
    }
    return new MemorySegment(corpus, byId, indexes);
  }

  /** The number of rows that are not hidden. */
  get size(): number {
    return this.#rows.size - this.#hidden.size;
  }

  /** The number of hidden rows. */
  get hiddenSize(): number {
    return this.#hidden.size;
  }

  /** The rows that are not hidden, in time order. */
  list(): MemoryRow[] {
    return this.#corpus.turns.flatMap(({ id }) => (this.#hidden.has(id) ? [] : (this.#rows.get(id) as MemoryRow)));
  }

  /** Hides a row. @returns the row; undefined for one that is not here, or is hidden. */
  hide(id: string): MemoryRow | undefined {
    const row = this.#rows.get(id);
    if (row === undefined || this.#hidden.has(id)) return undefined;
    this.#hidden.add(id);
    this.#positions = null;
    return row;
  }

  #listPositions(kind: TurnKind): Int32Array {
    if (this.#positions === null) {
      const lists: Record<TurnKind, number[]> = { documents: [], memories: [] };
      for (const [position, turn] of this.#corpus.turns.entries())
        if (!this.#hidden.has(turn.id)) lists[readKind(turn)].push(position);
      this.#positions = { documents: Int32Array.from(lists.documents), memories: Int32Array.from(lists.memories) };
    }
    return this.#positions[kind];
  }

  /** Finds what one source finds, best first; nothing for a source that is left out. @throws what the index throws. */
  async search(name: MemorySource, k: number, asked: SegmentQuestion): Promise<FoundRow[]> {
    const { text, question, vector, now, kind, accepts } = asked;
    const { turns, size } = this.#corpus;
    const index = this.#indexes.get(name);
    const positions = this.#listPositions(kind);
    const visible = accepts === null ? positions : positions.filter((position) => accepts(turns[position] as Turn));
    if (index === undefined) return [];
    const found = await index.search(
      {
        ...{ texts: [text], cutoffs: Int32Array.of(this.#corpus.countEarlierTurns(now)) },
        // An index prepares the rows of a list for each question again.
        ...{ visible: [visible.length === size ? null : visible], asked: [question], vectors: vector },
      },
      k,
    );
    return [...found.positions].flatMap((position, i) => {
      if (position < 0) return [];
      const { id } = turns[position] as Turn;
      return { ...(this.#rows.get(id) as MemoryRow), id, score: found.scores[i] as number };
    });
  }

  /** Keeps the indexes until {@link MemorySegment.release}. */
  hold(): void {
    this.#users++;
  }

  release(): void {
    this.#users--;
    this.#freeUnused();
  }

  /** Frees the indexes once nobody holds them. */
  retire(): void {
    this.#isRetired = true;
    this.#freeUnused();
  }

  #freeUnused(): void {
    if (this.#isRetired && this.#users === 0) for (const index of this.#indexes.values()) index.dispose();
  }
}
