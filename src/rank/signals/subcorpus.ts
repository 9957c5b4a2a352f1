import { ValidationError } from '../../core/errors/errors.ts';
import { gatherRows } from '../../core/tensors/rows.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { getOrCompute } from '../../core/values/once.ts';
import { canGrow, type IndexContext } from '../../index/candidates/index-definition.ts';
import { assertVisibleLists, isListed } from '../../index/candidates/query-batch.ts';
import { type IndexOptions, loadIndex } from '../../index/registry.ts';
import { createRowFinder, FlatIndex, FOREVER } from '../../index/vectors/flat.ts';
import type { CandidateIndex, Candidates, MemoryQuestion, QueryBatch, SeedTurns } from '../../model/candidates.ts';
import type { Query } from '../../model/dataset.ts';
import { Corpus, findLowerBound, isStart, listPositions } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { PropagatedVersions } from '../../ops/attention/versioned-propagation.ts';
import { type Grow, type PoolRows, Resources } from './stage.ts';

/** The turns that a query asks, those of one conversation or the whole corpus, and what is made of them alone. */
export class Subcorpus {
  /** null for the whole corpus. */
  readonly conversationId: string | null;
  readonly corpus: Corpus;
  #positions: Int32Array | null;
  readonly #resources: Resources;

  /** @param own the {@link positions} of a conversation; null for the whole corpus. */
  constructor(conversationId: string | null, corpus: Corpus, own: Int32Array | null, resources = new Resources()) {
    this.conversationId = conversationId;
    this.corpus = corpus;
    this.#positions = own;
    this.#resources = resources;
  }

  /** [corpus.size] positions of its turns in the whole corpus, ascending. */
  get positions(): Int32Array {
    this.#positions ??= Int32Array.from(this.corpus.turns.keys());
    return this.#positions;
  }

  /** The place that a position of the whole corpus has among its turns: the turns before it. */
  findPlace(position: number): number {
    return this.#positions === null ? position : findLowerBound(this.#positions, position);
  }

  /** Makes something of these turns and nothing else once for each key, see {@link Resources.keepOnce}. */
  keepOnce<T>(key: unknown, compute: () => Promise<T> | T, grow?: Grow<T>): Promise<T> {
    return this.#resources.keepOnce(key, compute, grow);
  }

  /**
   * These turns, and those that have come after them, with what is made of these.
   *
   * @returns null where others have come in between, or some are gone.
   */
  growTo(corpus: Corpus, positions: Int32Array | null): Subcorpus | null {
    if (!corpus.startsWith(this.corpus)) return null;
    if (corpus.size > this.corpus.size) this.#resources.fallBehind();
    return new Subcorpus(this.conversationId, corpus, positions, this.#resources);
  }

  /** True if it has grown from the other. */
  hasPartsOf(other: Subcorpus): boolean {
    return this.#resources === other.#resources;
  }

  dispose(): void {
    this.#resources.dispose();
  }
}

/**
 * The indices that the turns of a list have in a subcorpus; costs the shorter of the two, times the logarithm of the
 * longer.
 */
function findListedIndices(subcorpus: Subcorpus, list: Int32Array): Int32Array {
  if (subcorpus.conversationId === null) return list;
  const { positions } = subcorpus;
  const indexOf = (position: number) => findLowerBound(positions, position);
  if (list.length < positions.length) return list.filter((position) => isListed(positions, position)).map(indexOf);
  return positions.filter((position) => isListed(list, position)).map(indexOf);
}

/** The seeds that are turns of a subcorpus, by the positions that they have in it. */
function findLocalSeeds(subcorpus: Subcorpus, seeds: SeedTurns | null): SeedTurns | null {
  if (seeds === null || subcorpus.conversationId === null) return seeds;
  const kept = [...seeds.positions.keys()].filter((i) => isListed(subcorpus.positions, seeds.positions[i] as number));
  return {
    positions: Int32Array.from(kept, (i) => subcorpus.findPlace(seeds.positions[i] as number)),
    weights: Float32Array.from(kept, (i) => seeds.weights[i] as number),
  };
}

/**
 * Some queries of a batch, with the cutoffs, the lists of visible turns and the seeds that they have among the turns of
 * a subcorpus.
 */
function selectLocalBatch(
  { ids, texts, vectors, cutoffs, visible, seeds, concepts, asked }: QueryBatch,
  queryIndexes: readonly number[],
  subcorpus: Subcorpus,
): QueryBatch {
  const dimension = vectors.length / Math.max(1, cutoffs.length);
  const lists = new Map<Int32Array | null, Int32Array | null>([[null, null]]);
  const findList = (list: Int32Array | null) =>
    getOrCompute(lists, list, () => findListedIndices(subcorpus, list as Int32Array));
  return {
    ...(ids === undefined ? {} : { ids: queryIndexes.map((queryIndex) => ids[queryIndex] as string) }),
    ...(visible === undefined
      ? {}
      : { visible: queryIndexes.map((queryIndex) => findList(visible[queryIndex] ?? null)) }),
    ...(seeds === undefined
      ? {}
      : { seeds: queryIndexes.map((queryIndex) => findLocalSeeds(subcorpus, seeds[queryIndex] ?? null)) }),
    ...(concepts === undefined
      ? {}
      : { concepts: queryIndexes.map((queryIndex) => concepts[queryIndex] as readonly string[]) }),
    ...(asked && { asked: queryIndexes.map((queryIndex) => asked[queryIndex] as MemoryQuestion) }),
    texts: queryIndexes.map((queryIndex) => texts[queryIndex] as string),
    vectors: gatherRows(vectors, dimension, queryIndexes),
    cutoffs: Int32Array.from(queryIndexes, (queryIndex) => subcorpus.findPlace(cutoffs[queryIndex] as number)),
  };
}

/** Queries that ask the same turns. */
export interface SubcorpusQueries {
  readonly subcorpus: Subcorpus;
  /** Their indices in the batch. */
  readonly queryIndexes: readonly number[];
  /** The queries themselves, as the subcorpus's corpus sees them. */
  readonly batch: QueryBatch;
}

/** The turns of a conversation as a corpus: the one before, with what has come after its turns, or a new one. */
function makeOwnCorpus(turns: readonly Turn[], before?: Corpus): Corpus {
  if (before === undefined || !isStart(before.turns, turns)) return new Corpus(turns);
  return turns.length === before.size ? before : new Corpus(turns.slice(before.size), { after: before });
}

/** The subcorpora of a corpus, each made when it is asked for, and kept. */
export class Subcorpora {
  readonly #corpus: Corpus;
  /** By the index of the conversation, -1 for the whole corpus; of fewer turns where later ones were not asked yet. */
  #made = new Map<number, Subcorpus>();

  constructor(corpus: Corpus) {
    this.#corpus = corpus;
  }

  /** @param conversation index in `corpus.conversations`, -1 for the whole corpus. */
  #makeScope(conversation: number): Subcorpus {
    const made = this.#made.get(conversation);
    const { length } = (this.#corpus.conversations[conversation] ?? this.#corpus).turns;
    if (made?.corpus.size === length) return made;
    const subcorpus = this.#make(conversation, made);
    this.#made.set(conversation, subcorpus);
    return subcorpus;
  }

  /** @param earlier the subcorpus before, when there were fewer turns or others. */
  #make(conversation: number, earlier?: Subcorpus): Subcorpus {
    const asked = this.#corpus.conversations[conversation];
    const corpus = asked === undefined ? this.#corpus : makeOwnCorpus(asked.turns, earlier?.corpus);
    const positions = asked === undefined ? null : listPositions(this.#corpus, conversation);
    return earlier?.growTo(corpus, positions) ?? new Subcorpus(asked?.id ?? null, corpus, positions);
  }

  /**
   * The subcorpora of another corpus. What is made here of turns that are there too, with none between them that is
   * not, is moved there; the rest is disposed.
   */
  moveTo(corpus: Corpus): Subcorpora {
    const moved = new Subcorpora(corpus);
    if (corpus.startsWith(this.#corpus)) moved.#made = this.#made;
    else for (const earlier of this.#made.values()) moved.#take(earlier);
    this.#made = new Map();
    return moved;
  }

  /** Takes over what is made of turns that are here too. */
  #take(earlier: Subcorpus): void {
    const { conversationId } = earlier;
    const known = conversationId === null ? null : this.#corpus.findConversation(conversationId);
    const conversation = known === null ? -1 : this.#corpus.getPlace(known.id);
    const subcorpus = known === null && conversationId !== null ? null : this.#make(conversation, earlier);
    if (subcorpus?.hasPartsOf(earlier)) this.#made.set(conversation, subcorpus);
    else earlier.dispose();
  }

  dispose(): void {
    for (const subcorpus of this.#made.values()) subcorpus.dispose();
    this.#made.clear();
  }

  /** The whole corpus. */
  get whole(): Subcorpus {
    return this.#makeScope(-1);
  }

  /** N, the turns of the whole corpus. */
  get size(): number {
    return this.#corpus.size;
  }

  /** A batch in parts that ask the same turns, in the order of their first queries. */
  split(batch: QueryBatch): SubcorpusQueries[] {
    const groups = new Map<number, number[]>();
    for (const queryIndex of batch.cutoffs.keys())
      getOrCompute(groups, batch.conversations?.[queryIndex] ?? -1, () => []).push(queryIndex);
    return Array.from(groups, ([conversation, queryIndexes]) => {
      const subcorpus = this.#makeScope(conversation);
      const isAll = subcorpus.conversationId === null && queryIndexes.length === batch.cutoffs.length;
      return { subcorpus, queryIndexes, batch: isAll ? batch : selectLocalBatch(batch, queryIndexes, subcorpus) };
    });
  }
}

/**
 * [Q] which conversation each query asks alone, -1 for those that ask the whole corpus.
 *
 * @throws ValidationError for a conversation that the corpus does not hold.
 */
export function listAskedConversations(corpus: Corpus, queries: readonly Query[]): Int32Array {
  return Int32Array.from(queries, ({ conversationId: id }) => (id === undefined ? -1 : corpus.getPlace(id)));
}

/** For each subcorpus that is asked a query without a text and a direction, as early as the earliest. */
export function buildWarmUpBatch(subcorpora: Subcorpora, batch: QueryBatch): QueryBatch {
  const earliest = subcorpora.split(batch).map(({ queryIndexes }) => {
    const readQueryCutoff = (queryIndex: number) => batch.cutoffs[queryIndex] as number;
    return queryIndexes.reduce((least, queryIndex) =>
      readQueryCutoff(queryIndex) < readQueryCutoff(least) ? queryIndex : least,
    );
  });
  const dimension = batch.vectors.length / Math.max(1, batch.cutoffs.length);
  return {
    ids: earliest.map(() => ''),
    texts: earliest.map(() => ''),
    vectors: new Float32Array(earliest.length * dimension),
    cutoffs: Int32Array.from(earliest, (queryIndex) => batch.cutoffs[queryIndex] as number),
    conversations: Int32Array.from(earliest, (queryIndex) => batch.conversations?.[queryIndex] ?? -1),
    asked: earliest.map(() => ({ entities: [], window: null, procedural: false })),
  };
}

/**
 * Some rows of a pool by the positions that they have in a subcorpus.
 *
 * @returns row-major [queries, C]; -1 where the pool is padded.
 */
export function mapLocalRows(subcorpus: Subcorpus, pool: PoolRows, queryIndexes: readonly number[]): Int32Array {
  const local = new Int32Array(queryIndexes.length * pool.width).fill(-1);
  for (const [row, queryIndex] of queryIndexes.entries()) {
    for (let i = 0; i < pool.width; i++) {
      const position = pool.positions[queryIndex * pool.width + i] as number;
      if (position >= 0) local[row * pool.width + i] = subcorpus.findPlace(position);
    }
  }
  return local;
}

/**
 * The rows of a subcorpus's turns.
 *
 * @param vectors row-major [N, D]
 * @returns row-major [turns of the subcorpus, D]; for the whole corpus the vectors themselves.
 */
export function selectScopeVectors(subcorpus: Subcorpus, vectors: Float32Array, dimension: number): Float32Array {
  return subcorpus.conversationId === null ? vectors : gatherRows(vectors, dimension, subcorpus.positions);
}

/**
 * What belongs to the turns of a subcorpus.
 *
 * @param values by the positions of the whole corpus; returned for it.
 */
export function selectScopeValues<T>(subcorpus: Subcorpus, values: readonly T[]): readonly T[] {
  if (subcorpus.conversationId === null) return values;
  return Array.from(subcorpus.positions, (position) => values[position] as T);
}

/**
 * A column computed one subcorpus at a time.
 *
 * @param score the rows of a part, row-major [queries of the part, C], from the positions that its candidates have in
 *   the subcorpus, -1 for padding
 * @returns row-major [Q, C]
 */
export async function scoreBySubcorpus(
  { subcorpora, batch }: { readonly subcorpora: Subcorpora; readonly batch: QueryBatch },
  pool: PoolRows,
  score: (part: SubcorpusQueries, positions: Int32Array) => Promise<Float32Array> | Float32Array,
): Promise<Float32Array> {
  const { width } = pool;
  const column = new Float32Array(pool.positions.length);
  for (const part of subcorpora.split(batch)) {
    const { subcorpus, queryIndexes } = part;
    const scores = await score(part, mapLocalRows(subcorpus, pool, queryIndexes));
    for (const [row, query] of queryIndexes.entries())
      column.set(scores.subarray(row * width, (row + 1) * width), query * width);
  }
  return column;
}

/**
 * The versions of a subcorpus's turns, by the positions and the cutoffs that they have in it. A turn's version changes
 * only when its conversation grows, so that no two cutoffs that a subcorpus takes for one tell versions apart.
 */
function selectScopeVersions(
  subcorpus: Subcorpus,
  versions: PropagatedVersions,
  dimension: number,
  rowsOf: (position: number) => Int32Array = createRowFinder(versions),
): PropagatedVersions {
  if (subcorpus.conversationId === null) return versions;
  const { positions } = subcorpus;
  const last = positions.at(-1) ?? -1;
  const rows = Int32Array.from(Array.from(positions, (position) => [...rowsOf(position)]).flat()).sort();
  const mapLocalPositions = (values: Int32Array) =>
    Int32Array.from(rows, (row) => findLowerBound(positions, values[row] as number));
  return {
    vectors: gatherRows(versions.vectors, dimension, rows),
    positions: mapLocalPositions(versions.positions),
    validFrom: mapLocalPositions(versions.validFrom),
    // A cutoff after the subcorpus's last turn is its size, which an end that no cutoff reaches must stay above.
    validTo: mapLocalPositions(versions.validTo).map((end, i) =>
      (versions.validTo[rows[i] as number] as number) > last + 1 ? FOREVER : end,
    ),
    reach: versions.reach,
  };
}

/** Indexes that their subcorpora keep. */
interface KeptIndexes {
  readonly key: unknown;
  /** See {@link Grow}. */
  grow(earlier: CandidateIndex, subcorpus: Subcorpus): Promise<CandidateIndex | null>;
}

/**
 * Answers each query from an index over the turns that it asks, by themselves: what is rare is then what is rare among
 * them. Owns the indexes; throws after `dispose()`.
 */
class SubcorpusIndex implements CandidateIndex {
  readonly name: string;
  readonly #subcorpora: Subcorpora;
  readonly #make: (subcorpus: Subcorpus) => CandidateIndex;
  readonly #kept: KeptIndexes | null;
  readonly #indexes = new Map<Subcorpus, CandidateIndex>();
  #disposed = false;

  /**
   * @param make an index over the subcorpus's corpus, with its positions.
   * @param kept how a subcorpus keeps its index beyond `dispose()`; null where it doesn't.
   */
  constructor(
    name: string,
    subcorpora: Subcorpora,
    make: (subcorpus: Subcorpus) => CandidateIndex,
    kept: KeptIndexes | null,
  ) {
    this.name = name;
    this.#subcorpora = subcorpora;
    this.#make = make;
    this.#kept = kept;
  }

  async #index(subcorpus: Subcorpus): Promise<CandidateIndex> {
    if (this.#kept === null) return getOrCompute(this.#indexes, subcorpus, this.#make);
    const { key, grow } = this.#kept;
    return subcorpus.keepOnce(
      ['index', key],
      () => this.#make(subcorpus),
      (earlier) => grow(earlier, subcorpus),
    );
  }

  /**
   * @throws ValidationError after `dispose()`; DimensionMismatchError, ValidationError for lists of visible turns as
   *   {@link assertVisibleLists}.
   */
  async search(queries: QueryBatch, k: number, progress?: StartProgress): Promise<Candidates> {
    if (this.#disposed) throw new ValidationError(`index was disposed: ${this.name}; build a new index`);
    if (queries.visible !== undefined) assertVisibleLists(queries, this.#subcorpora.size);
    const parts = this.#subcorpora.split(queries);
    const asksWhole = parts.length === 1 && parts[0]?.subcorpus.conversationId === null;
    if (asksWhole) return (await this.#index(this.#subcorpora.whole)).search(queries, k, progress);
    const count = queries.cutoffs.length;
    const found = { positions: new Int32Array(count * k).fill(-1), scores: new Float32Array(count * k), width: k };
    // A stage for each of a thousand conversations would be a thousand lines.
    const stage = parts.length > 1 ? progress?.(this.name, count) : undefined;
    let done = 0;
    for (const { subcorpus, queryIndexes, batch } of parts) {
      const index = await this.#index(subcorpus);
      const part = await index.search(batch, k, stage === undefined ? progress : ignoreProgress);
      const mapToWhole = (local: number) => (local < 0 ? -1 : (subcorpus.positions[local] as number));
      const positions = subcorpus.conversationId === null ? part.positions : part.positions.map(mapToWhole);
      for (const [row, queryIndex] of queryIndexes.entries()) {
        found.positions.set(positions.subarray(row * k, (row + 1) * k), queryIndex * k);
        found.scores.set(part.scores.subarray(row * k, (row + 1) * k), queryIndex * k);
      }
      done += queryIndexes.length;
      stage?.update(done);
    }
    stage?.finish(`${count} queries of ${parts.length} subcorpora`);
    return found;
  }

  dispose(): void {
    this.#disposed = true;
    for (const index of this.#indexes.values()) index.dispose();
    this.#indexes.clear();
  }
}

/** The parts of an index besides its turns, with a row for each turn of the whole corpus. */
type CorpusContext = Omit<IndexContext, 'corpus'>;

/** The rows of a subcorpus's turns. */
function selectScopeContext(subcorpus: Subcorpus, context: CorpusContext): IndexContext {
  const { vectors, dimension, concepts, relations, entities } = context;
  const select = <T>(values: readonly T[]) => selectScopeValues(subcorpus, values);
  return {
    ...context,
    corpus: subcorpus.corpus,
    vectors: selectScopeVectors(subcorpus, vectors, dimension),
    ...(concepts && { concepts: select(concepts) }),
    ...(relations && { relations: select(relations) }),
    ...(entities && { entities: select(entities) }),
  };
}

/** The parts of an index that are made of single turns, and what indexes share. */
const OF_TURNS: ReadonlySet<string> = new Set<keyof IndexContext>([
  'concepts',
  'relations',
  'conceptVectors',
  'entities',
  'graphs',
]);

/**
 * An index over each subcorpus of a corpus, by the options.
 *
 * @param context of the whole corpus: vectors row-major [N, D], concepts [N], relations [N] and entities [N]
 * @param rows propagated ones, which `flat` alone can search; null for the turns' own
 * @param keptAs distinguishes the parts of `context` from others of the same turns. A subcorpus keeps its index by the
 *   options and this, where the index is made of its turns and their vectors alone; null: it keeps none.
 */
export async function createSubcorpusIndex(
  options: IndexOptions,
  subcorpora: Subcorpora,
  context: CorpusContext,
  rows: PropagatedVersions | null = null,
  keptAs: object | null = null,
): Promise<SubcorpusIndex> {
  const create = await loadIndex(options);
  const { vectors: _, dimension, seed, ...others } = context;
  const rowsOf = rows === null ? undefined : createRowFinder(rows);
  const make = (subcorpus: Subcorpus): CandidateIndex => {
    if (rows === null) return create(selectScopeContext(subcorpus, context));
    const ids = subcorpus.corpus.turns.map(({ id }) => id);
    return new FlatIndex(ids, { ...selectScopeVersions(subcorpus, rows, dimension, rowsOf), dimension });
  };
  const grow: KeptIndexes['grow'] = async (earlier, subcorpus) => {
    if (!canGrow(earlier)) return null;
    await earlier.growWith(selectScopeContext(subcorpus, context));
    return earlier;
  };
  const isAlone = keptAs !== null && rows === null && Object.keys(others).every((part) => OF_TURNS.has(part));
  const kept = isAlone ? { key: { options, seed, keptAs }, grow } : null;
  return new SubcorpusIndex(options.index, subcorpora, make, kept);
}

/** Up to where queries can look back: in the whole corpus, and in conversations that are asked alone. */
export interface QueryReach {
  /** The limit of the queries that ask the whole corpus: turns at positions below may answer one of them. */
  readonly corpus: number;
  /**
   * Index of a conversation in `corpus.conversations`, and the position that limits its turns; those that reach further
   * than `corpus`, by index.
   */
  readonly conversations: readonly (readonly [conversation: number, limit: number])[];
}

/**
 * The spans that some queries can look back from positions: nothing else of the corpus has an influence on what they
 * find.
 */
export function computeQueryReach(corpus: Corpus, queries: readonly Query[]): QueryReach {
  const limits = new Map<number, number>();
  const raise = (conversation: number, cutoff: number) =>
    limits.set(conversation, Math.max(limits.get(conversation) ?? 0, cutoff));
  const asked = listAskedConversations(corpus, queries);
  for (const [queryIndex, { timestamp, anchorTurnId }] of queries.entries()) {
    const cutoff = corpus.countEarlierTurns(timestamp);
    raise(asked[queryIndex] as number, cutoff);
    if (anchorTurnId !== null) raise(corpus.conversationOf[corpus.getPosition(anchorTurnId)] as number, cutoff);
  }
  const whole = limits.get(-1) ?? 0;
  const conversations = [...limits].filter(([queryIndex, limit]) => queryIndex >= 0 && limit > whole);
  return { corpus: whole, conversations: conversations.sort(([a], [b]) => a - b) };
}

/** The positions of the turns within reach, ascending. */
export function listTurnsWithin(corpus: Corpus, { corpus: whole, conversations }: QueryReach): ReadonlySet<number> {
  const positions = new Set<number>();
  for (let position = 0; position < whole; position++) positions.add(position);
  if (conversations.length === 0) return positions;
  const limits = new Map(conversations);
  for (let position = whole; position < corpus.size; position++) {
    const limit = limits.get(corpus.conversationOf[position] as number);
    if (limit !== undefined && position < limit) positions.add(position);
  }
  return positions;
}
