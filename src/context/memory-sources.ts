import { MEMORY_SOURCES, type MemorySource } from '../candidates/memories/memory-options.ts';
import { createIndex, type IndexOptions } from '../candidates/registry.ts';
import { UnavailableError } from '../core/errors.ts';
import { multiplyRows, viewRow } from '../core/rows.ts';
import { parse } from '../core/validation.ts';
import type { CandidateIndex } from '../model/candidates.ts';
import { Corpus } from '../model/corpus.ts';
import type { Encoder } from '../model/encoder.ts';
import { bindFilter } from '../model/filter/compile-filter.ts';
import { readImportance } from '../model/memory-fields.ts';
import { compareScored } from '../model/tie-rule.ts';
import type { Turn } from '../model/turn.ts';
import { loadSelection } from '../rerank/registry.ts';
import { type AskedMemory, askMemory, KnownEntities, listTurnEntities } from '../signals/asked-memories.ts';
import { computeMemorySignals, scoreMemorySignals } from '../signals/memory-signals.ts';
import { chooseStrategyWeights } from '../signals/strategy-options.ts';
import type { AssemblySources } from './assemble.ts';
import { type MemorySourcesInput, type MemorySourcesOptions, memorySourcesSchema } from './memory-sources-options.ts';
import { selectMemories } from './select-memories.ts';
import { askSource, type ContextSource, type FoundItems, type SourceAnswer, type SourceRequest } from './source.ts';
import { describeTurn } from './turn-item.ts';

/** What memories and documents are searched in. */
export interface MemorySourcesData {
  /** Memories and documents; `memoryType: document` or `source: documents` makes a turn a document. */
  readonly turns: readonly Turn[];
  /** Encodes questions, and the texts of the turns if there are no vectors. Borrowed. */
  readonly encoder: Encoder;
  /** The vector of a turn if it is known, a unit vector or zero, as a memory engine holds it; absent: the encoder makes all. */
  readonly vectorOf?: (id: string) => Float32Array;
}

/** Where {@link assemble} gets documents and memories from. */
export interface MemorySources extends Required<Pick<AssemblySources, 'documents' | 'memories'>> {
  /** Frees the indexes. */
  dispose(): void;
}

/** A question with what it asks for. */
interface Asked {
  readonly request: SourceRequest;
  readonly question: AskedMemory;
  /** The vector of the question, once for all sources. Rejects for those that need it. */
  readonly vector: Promise<Float32Array>;
  readonly cutoff: number;
  /** Ascending positions that may be found. */
  readonly visible: Int32Array;
}

/** Whether a source compares vectors. */
const COMPARES: ReadonlySet<MemorySource> = new Set(['semantic', 'procedural']);

const isDocument = (turn: Turn) => describeTurn(turn, 0).memoryType === 'document';

/** The indexes of the five sources over one corpus. */
class OpenSources {
  readonly #corpus: Corpus;
  readonly #vectors: Float32Array;
  readonly #entities: readonly (readonly string[])[];
  readonly #known: KnownEntities | null;
  readonly #indexes: ReadonlyMap<MemorySource, CandidateIndex>;
  readonly #encoder: Encoder;
  readonly #options: MemorySourcesOptions;

  constructor(
    corpus: Corpus,
    vectors: Float32Array,
    entities: { readonly areGiven: boolean; readonly entities: readonly (readonly string[])[] },
    indexes: ReadonlyMap<MemorySource, CandidateIndex>,
    encoder: Encoder,
    options: MemorySourcesOptions,
  ) {
    this.#corpus = corpus;
    this.#vectors = vectors;
    this.#entities = entities.entities;
    this.#known = entities.areGiven ? new KnownEntities(entities.entities) : null;
    this.#indexes = indexes;
    this.#encoder = encoder;
    this.#options = options;
  }

  /** A source of some of the turns. */
  makeSource(accepts: (turn: Turn) => boolean): ContextSource {
    const { turns } = this.#corpus;
    const positions = Int32Array.from(turns.keys()).filter((position) => accepts(turns[position] as Turn));
    return (request) => this.#answer(request, positions);
  }

  #listVisible({ session, now }: SourceRequest, positions: Int32Array): Int32Array {
    const { filter, variables } = this.#options;
    const { turns } = this.#corpus;
    const accepts = filter === null ? () => true : bindFilter(filter, { timestamp: now, ...variables });
    return positions.filter((position) => {
      const turn = turns[position] as Turn;
      return (session === null || turn.conversationId === session) && accepts(turn);
    });
  }

  async #answer(request: SourceRequest, positions: Int32Array): Promise<FoundItems> {
    const { query, now, signal } = request;
    const { timeZone, timeoutMs, limits: most } = this.#options;
    const cutoff = this.#corpus.countEarlierTurns(now);
    const owners = [{ kind: 'query' as const, id: 'question' }];
    const vector = this.#encoder.encode([query], undefined, { owners, signal });
    vector.catch(() => {}); // the sources that await it name the fault
    const question = await askMemory(query, { timestamp: now, timeZone }, this.#known, cutoff);
    const asked: Asked = { request, question, vector, cutoff, visible: this.#listVisible(request, positions) };
    const parts = await Promise.all(
      Array.from(this.#indexes, ([name, index]) =>
        askSource(name, () => this.#search(name, index, asked), { ...request, k: most[name] }, timeoutMs, signal),
      ),
    );
    if (parts.length > 0 && parts.every(({ fault }) => fault !== null))
      throw new UnavailableError('memories', `every source failed; ${parts.map(describeFault).join('; ')}`);
    return { items: await this.#select(asked, parts), parts };
  }

  async #search(name: MemorySource, index: CandidateIndex, { request, question, vector, cutoff, visible }: Asked) {
    // An index prepares the rows of a list for each question again.
    const list = visible.length === this.#corpus.size ? null : visible;
    const { positions, scores } = await index.search(
      {
        ...{ texts: [request.query], cutoffs: Int32Array.of(cutoff), visible: [list], asked: [question] },
        vectors: COMPARES.has(name) ? await vector : new Float32Array(0),
      },
      this.#options.limits[name],
    );
    return [...positions].flatMap((position, place) =>
      position < 0 ? [] : [describeTurn(this.#corpus.turns[position] as Turn, scores[place] as number)],
    );
  }

  /** What was found, once each, by the strategy of the question, without duplicates. */
  async #select({ request, question, vector }: Asked, parts: readonly SourceAnswer[]) {
    const { strategy, selection, least, most } = this.#options;
    // Settled: a source that awaited it has answered or failed.
    const isEncoded = parts.some(({ name, fault }) => COMPARES.has(name as MemorySource) && fault === null);
    const asked = isEncoded ? await vector : null;
    const weights = chooseStrategyWeights(strategy, question.strategy);
    const ids = new Set(parts.flatMap(({ items }) => items.map(({ id }) => id)));
    const ranked = Array.from(ids, (id) => {
      const row = this.#corpus.getPosition(id);
      const turn = this.#corpus.turns[row] as Turn;
      const { memoryType = null, useCount = null } = (turn.attributes ?? {}) as Record<string, never>;
      const signals = computeMemorySignals(
        {
          ...{ entities: this.#entities[row] as readonly string[], createdAt: turn.timestamp, memoryType, useCount },
          cosine: asked === null ? null : multiplyRows(this.#vectors, row, asked, 0, this.#encoder.dimension),
          importance: readImportance(turn),
        },
        { now: request.now, entities: question.entities, window: question.window },
      );
      return { id, row, turn, score: Math.max(0, scoreMemorySignals(signals, weights, memoryType)) };
    }).sort(compareScored);
    const range = { least: Math.min(least, request.k), most: Math.min(most, request.k) };
    const selected = await selectMemories(ranked, this.#vectors, this.#encoder.dimension, selection, range);
    return selected.map(({ turn, score }) => describeTurn(turn, score));
  }

  dispose(): void {
    for (const index of this.#indexes.values()) index.dispose();
  }
}

function describeFault({ name, fault }: SourceAnswer): string {
  return `${name}: ${fault}`;
}

/** The vectors of turns, row-major [N, D]. */
async function readVectors(turns: readonly Turn[], { encoder, vectorOf }: MemorySourcesData): Promise<Float32Array> {
  const owners = turns.map(({ id, attributes }) => ({
    ...{ kind: 'turn' as const, id },
    ...(attributes?.sensitive === true && { sensitive: true }),
  }));
  if (vectorOf === undefined)
    return encoder.encode(
      turns.map(({ text }) => text),
      undefined,
      { owners },
    );
  const { dimension } = encoder;
  const vectors = new Float32Array(turns.length * dimension);
  for (const [row, { id }] of turns.entries()) viewRow(vectors, dimension, row).set(vectorOf(id));
  return vectors;
}

/**
 * Sources of documents and memories for {@link assemble}, over turns as they are now: each answer is the union of five sources (by meaning, entities, time,
 * procedure, summary), asked in parallel, ranked by the five signals of memories with the weights of the question's strategy, and without duplicates. Only turns
 * earlier than the question are found. A source that fails or is late is left out and named in `parts`.
 *
 * @throws ConfigurationError for options that break the schema; ValidationError for turns that are no corpus, and for vectors that are no unit vectors; what the encoder throws.
 */
export async function openMemorySources(
  data: MemorySourcesData,
  input: MemorySourcesInput = {},
): Promise<MemorySources> {
  const options = parse(memorySourcesSchema, input, 'options of sources of memories');
  await loadSelection(options.selection); // the first question does not wait for it
  const corpus = new Corpus(data.turns);
  const vectors = await readVectors(corpus.turns, data);
  const entities = await listTurnEntities(corpus.turns);
  const given = { corpus, vectors, dimension: data.encoder.dimension, entities: entities.entities };
  const indexes = new Map<MemorySource, CandidateIndex>();
  try {
    for (const index of MEMORY_SOURCES) {
      if (options.limits[index] === 0) continue;
      const { minCosine } = options;
      const written = { index, k: options.limits[index], ...(index === 'semantic' && { minCosine }) } as IndexOptions;
      indexes.set(index, await createIndex(written, given));
    }
  } catch (error) {
    for (const index of indexes.values()) index.dispose();
    throw error;
  }
  const sources = new OpenSources(corpus, vectors, entities, indexes, data.encoder, options);
  return {
    documents: sources.makeSource(isDocument),
    memories: sources.makeSource((turn) => !isDocument(turn)),
    dispose: () => sources.dispose(),
  };
}
