import { UnavailableError } from '../../core/errors/errors.ts';
import { multiplyRows, viewRow } from '../../core/tensors/rows.ts';
import { parse } from '../../core/validation/validation.ts';
import { MEMORY_SOURCES, type MemorySource } from '../../index/memories/memory-options.ts';
import type { Encoder } from '../../model/encoder.ts';
import { bindFilter } from '../../model/filter/compile-filter.ts';
import { compareTurns } from '../../model/turns/conversation.ts';
import { readImportance } from '../../model/turns/memory-fields.ts';
import { compareScored } from '../../model/turns/tie-rule.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { loadSelection } from '../../rank/rerank/registry.ts';
import { type AskedMemory, askMemory } from '../../rank/signals/asked-memories.ts';
import { computeMemorySignals, scoreMemorySignals } from '../../rank/signals/memory-signals.ts';
import { chooseStrategyWeights } from '../../rank/signals/signal-options.ts';
import type { FoundRow, MemorySegment, SegmentQuestion, TurnKind } from './memory-segment.ts';
import {
  type FollowedMemory,
  listMemoryRows,
  MemorySegments,
  selectMemories,
  type UnreadRow,
} from './memory-segments.ts';
import { type MemorySourcesInput, type MemorySourcesOptions, memorySourcesSchema } from './memory-sources-options.ts';
import {
  askSource,
  type ContextSource,
  describeTurn,
  type FoundItems,
  type SourceAnswer,
  type SourceRequest,
} from './source.ts';

/** Turns that are searched as they are now. */
export interface MemorySourcesTurns {
  /** Memories and documents; `memoryType: document` or `source: documents` makes a turn a document. */
  readonly turns: readonly Turn[];
  /** Encodes questions, and the texts of the turns if there are no vectors. Borrowed. */
  readonly encoder: Encoder;
  /** The vector of a turn if it is known, a unit vector or zero; absent: the encoder makes all. */
  readonly vectorOf?: (id: string) => Float32Array;
}

/** Turns that are searched as they are now, or a memory, whose changes the sources follow. */
export type MemorySourcesData =
  | MemorySourcesTurns
  | {
      /** Its embeddings are those of the encoder. Borrowed. */
      readonly memory: FollowedMemory;
      /** Encodes questions. Borrowed. */
      readonly encoder: Encoder;
    };

/** Where {@link assemble} gets documents and memories from. */
export interface MemorySources {
  readonly documents: ContextSource;
  readonly memories: ContextSource;
  /** Frees the indexes. */
  dispose(): void;
}

/** A question with what it asks for. */
interface Asked {
  readonly request: SourceRequest;
  readonly question: AskedMemory;
  /** The vector of the question, once for all sources. Rejects for those that need it. */
  readonly vector: Promise<Float32Array>;
  readonly kind: TurnKind;
  readonly segments: readonly MemorySegment[];
}

/** True if a source compares vectors. */
const COMPARES: ReadonlySet<string> = new Set<MemorySource>(['semantic', 'procedural']);

/** The order in which a source lists what it finds, which holds across segments. */
function compareFound(name: MemorySource, { entities }: AskedMemory): (a: FoundRow, b: FoundRow) => number {
  if (COMPARES.has(name)) return compareScored;
  const compareNewest = (a: FoundRow, b: FoundRow) => compareTurns(b.turn, a.turn);
  if (name !== 'entities') return compareNewest;
  const named = new Set(entities);
  const count = (row: FoundRow) => new Set(row.entities.filter((id) => named.has(id))).size;
  return (a, b) => count(b) - count(a) || readImportance(b.turn) - readImportance(a.turn) || compareNewest(a, b);
}

/** The five sources over the rows of a memory. */
class OpenSources {
  readonly #rows: MemorySegments;
  readonly #encoder: Encoder;
  readonly #options: MemorySourcesOptions;

  constructor(rows: MemorySegments, encoder: Encoder, options: MemorySourcesOptions) {
    this.#rows = rows;
    this.#encoder = encoder;
    this.#options = options;
  }

  /** A source of one kind of turns. */
  makeSource(kind: TurnKind): ContextSource {
    const answer = async (request: SourceRequest) => {
      await this.#rows.follow();
      return this.#rows.use((segments) => this.#answer(request, kind, segments));
    };
    return Object.assign(answer, { readVersion: () => this.#rows.version });
  }

  async #answer(request: SourceRequest, kind: TurnKind, segments: readonly MemorySegment[]): Promise<FoundItems> {
    const { query, now, signal } = request;
    const { timeZone, timeoutMs, limits: most } = this.#options;
    const owners = [{ kind: 'query' as const, id: 'question' }];
    const vector = this.#encoder.encode([query], undefined, { owners, signal });
    vector.catch(() => {}); // the sources that await it name the fault
    const known = this.#rows.readKnown(now);
    const question = await askMemory(query, { timestamp: now, timeZone }, known.entities, known.cutoff);
    const asked: Asked = { request, question, vector, kind, segments };
    const names = MEMORY_SOURCES.filter((name) => most[name] > 0);
    const parts = await Promise.all(
      names.map((name) => this.#askPart(name, asked, { ...request, k: most[name] }, timeoutMs)),
    );
    const answers = parts.map(({ answer }) => answer);
    if (answers.length > 0 && answers.every(({ fault }) => fault !== null))
      throw new UnavailableError('memories', `every source failed; ${answers.map(describeFault).join('; ')}`);
    return { items: await this.#select(asked, parts), parts: answers };
  }

  /** Asks a source of the five. @returns its answer, and the rows that it found. */
  async #askPart(name: MemorySource, asked: Asked, request: SourceRequest, timeoutMs: number): Promise<FoundPart> {
    let rows: readonly FoundRow[] = [];
    const find = async () => {
      rows = await this.#search(name, asked);
      return rows.map(({ turn, score }) => describeTurn(turn, score));
    };
    const answer = await askSource(name, find, request, timeoutMs, request.signal);
    return { answer, rows: answer.fault === null ? rows : [] };
  }

  async #search(name: MemorySource, { request, question, vector, kind, segments }: Asked): Promise<FoundRow[]> {
    const { filter, variables, limits } = this.#options;
    const { session, now, query } = request;
    const admits = filter === null ? null : bindFilter(filter, { timestamp: now, ...variables });
    const isFree = session === null && admits === null;
    const accepts = (turn: Turn) => (session === null || turn.conversationId === session) && admits?.(turn) !== false;
    const part: SegmentQuestion = {
      ...{ text: query, question, now, kind, accepts: isFree ? null : accepts },
      vector: COMPARES.has(name) ? await vector : new Float32Array(0),
    };
    const found = await Promise.all(segments.map((segment) => segment.search(name, limits[name], part)));
    const ordered = found.flat().sort(compareFound(name, question)).slice(0, limits[name]);
    return COMPARES.has(name) ? ordered : ordered.map((row, i) => ({ ...row, score: 1 / (1 + i) }));
  }

  /** Ranks what was found by the strategy of the question, without duplicates. */
  async #select({ request, question, vector }: Asked, parts: readonly FoundPart[]) {
    const { strategy, selection, least, most } = this.#options;
    // Settled: a source that awaited it has answered or failed.
    const isEncoded = parts.some(({ answer: { name, fault } }) => COMPARES.has(name) && fault === null);
    const asked = isEncoded ? await vector : null;
    const weights = chooseStrategyWeights(strategy, question.strategy);
    const found = [...new Map(parts.flatMap(({ rows }) => rows.map((row) => [row.id, row]))).values()];
    const { dimension } = this.#encoder;
    const vectors = new Float32Array(found.length * dimension);
    for (const [row, { vector: own }] of found.entries()) vectors.set(own, row * dimension);
    const ranked = found
      .map(({ id, turn, entities }, row) => {
        const { memoryType = null, useCount = null } = (turn.attributes ?? {}) as Record<string, never>;
        const signals = computeMemorySignals(
          {
            ...{ entities, createdAt: turn.timestamp, memoryType, useCount },
            cosine: asked === null ? null : multiplyRows(vectors, row, asked, 0, dimension),
            importance: readImportance(turn),
          },
          { now: request.now, entities: question.entities, window: question.window },
        );
        return { id, row, turn, score: Math.max(0, scoreMemorySignals(signals, weights, memoryType)) };
      })
      .sort(compareScored);
    const range = { least: Math.min(least, request.k), most: Math.min(most, request.k) };
    const selected = await selectMemories(ranked, vectors, dimension, selection, range);
    return selected.map(({ turn, score }) => describeTurn(turn, score));
  }
}

/** The answer of a source of the five, and its rows. */
interface FoundPart {
  readonly answer: SourceAnswer;
  readonly rows: readonly FoundRow[];
}

function describeFault({ name, fault }: SourceAnswer): string {
  return `${name}: ${fault}`;
}

/** The rows of turns with their vectors. */
async function readTurnRows({ turns, encoder, vectorOf }: MemorySourcesTurns): Promise<UnreadRow[]> {
  if (vectorOf !== undefined) return turns.map((turn) => ({ turn, vector: vectorOf(turn.id) }));
  const owners = turns.map(({ id, attributes }) => ({
    ...{ kind: 'turn' as const, id },
    ...(attributes?.sensitive === true && { sensitive: true }),
  }));
  const texts = turns.map(({ text }) => text);
  const vectors = await encoder.encode(texts, undefined, { owners });
  return turns.map((turn, row) => ({ turn, vector: viewRow(vectors, encoder.dimension, row) }));
}

/**
 * Sources of documents and memories for {@link assemble}, over turns, or over a memory, whose changes the next
 * question sees. Each answer is the union of five sources (by meaning, entities, time, procedure, summary), asked
 * in parallel, ranked by the five signals of memories with the weights of the question's strategy, and without
 * duplicates. Only turns earlier than the question are found. A source that fails or is late is left out and named
 * in `parts`.
 *
 * @throws ConfigurationError for options that break the schema; InvalidFilterError for a filter by an attribute that no
 * memory has; ValidationError for turns that are no corpus, and for vectors that are no unit vectors; what the encoder
 * throws.
 */
export async function openMemorySources(
  data: MemorySourcesData,
  input: MemorySourcesInput = {},
): Promise<MemorySources> {
  const options = parse(memorySourcesSchema, input, 'options of sources of memories');
  await loadSelection(options.selection); // the first question does not wait for it
  const { encoder } = data;
  const memory = 'memory' in data ? data.memory : null;
  const rows = new MemorySegments(memory, encoder.dimension, options);
  try {
    await rows.fill('memory' in data ? listMemoryRows(data.memory) : await readTurnRows(data));
  } catch (error) {
    rows.dispose();
    throw error;
  }
  const sources = new OpenSources(rows, encoder, options);
  return {
    documents: sources.makeSource('documents'),
    memories: sources.makeSource('memories'),
    dispose: () => rows.dispose(),
  };
}
