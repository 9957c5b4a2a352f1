import { computeHash } from '../../core/hash/hash.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import { createSerialRunner } from '../../core/values/once.ts';
import type { EncoderOptions } from '../../index/encoders/registry.ts';
import type { Kernel } from '../../kernel/authority/kernel.ts';
import type { KeyRing } from '../../kernel/signatures/kernel-keys.ts';
import type { SliceOptions, SliceSource } from '../../kernel/slices/slice-options.ts';
import type { Query } from '../../model/dataset.ts';
import type { TextOwner } from '../../model/encoder.ts';
import { compareTurns } from '../../model/turns/conversation.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { isSensitive } from '../../model/turns/memory-fields.ts';
import { type MemoryRecord, type Turn, toTurn } from '../../model/turns/turn.ts';
import { listRankedComponents, listRankedPositions, rankArm, readRanking } from '../../rank/retrieval/retriever.ts';
import { readArm } from '../../rank/retrieval/written-steps.ts';
import type { Encoding } from '../../rank/signals/signal.ts';
import { PartResults } from '../../rank/signals/stage.ts';
import { Workspace } from '../../rank/signals/workspace.ts';
import type { NotifyChange } from '../store/memory-store.ts';
import { ObservedOutcomes } from './observed-outcomes.ts';
import type { ArmRanked, CheckedQuestion, RankedRecords } from './query-response.ts';
import type { ServedArm } from './served-arm.ts';

/** The records of a memory, as an arm reads them. */
export interface ArmRecords {
  readonly sequence: number;
  records(): Iterable<MemoryRecord>;
  /** null for an id that is gone. */
  get(id: string): MemoryRecord | null;
  /** See `MemoryStore.watch`. */
  watch(notify: NotifyChange): () => void;
}

/** A record that may lack its vector. */
interface UnembeddedRecord extends Pick<MemoryRecord, 'id' | 'context'> {
  readonly metadata?: MemoryRecord['metadata'];
  readonly embedding?: Float32Array;
}

/** The store refuses what is no record. */
const isBare = (record: UnembeddedRecord) => record?.embedding === undefined && typeof record?.context === 'string';

/** The owners of texts: sensitive ones go to no service. */
function listOwners(kind: TextOwner['kind'], owners: readonly (Turn | Query)[]): TextOwner[] {
  return owners.map((owner) => ({ kind, id: owner.id, ...(isSensitive(owner) && { sensitive: true }) }));
}

/** Room for vectors of turns, as a multiple of what is needed. */
const SPARE = 1.5;

/** A turn with its vector, [D]. */
type TurnRow = readonly [turn: Turn, vector: Float32Array];

/**
 * The turns of records that have a text. A parent that is gone, later, or of another conversation is none.
 *
 * @param records all of the conversations that they are of, but for some earlier turns.
 * @param unchanged the turn that a record was before, where it is the same record; what was computed of it is kept by
 *   the turn.
 * @param findEarlier such a turn.
 */
function listRows(
  records: Iterable<MemoryRecord>,
  unchanged: (id: string) => Turn | null = () => null,
  findEarlier: (id: string) => Turn | null = () => null,
): TurnRow[] {
  const known = new Map(Array.from(records, (record) => [record.id, record]));
  for (const { id, context } of known.values()) if (context.trim() === '') known.delete(id);
  return Array.from(known.values(), (record) => {
    const turn = toTurn(record);
    const parent = turn.parentId === null ? undefined : known.get(turn.parentId);
    const earlier = turn.parentId === null || parent !== undefined ? null : findEarlier(turn.parentId);
    const isLater = parent !== undefined && parent.createdAt > turn.timestamp;
    const isParent = !isLater && (parent ?? earlier)?.conversationId === turn.conversationId;
    const before = unchanged(record.id);
    const parentId = isParent ? turn.parentId : null;
    return [before?.parentId === parentId ? before : { ...turn, parentId }, record.embedding];
  });
}

/** The conversations of a corpus that changed. */
interface ChangedTurns {
  /** The turns of the conversations in which something changed, all of them, and turns after those of the corpus. */
  readonly rows: readonly TurnRow[];
  /** The ids of these conversations, and of those that are gone, without those that got later turns alone. */
  readonly conversations: ReadonlySet<string>;
}

/**
 * Reads records that are all new, and later than every turn of a corpus, in the order of time; null for other changes.
 */
function readLater(records: Pick<ArmRecords, 'get'>, corpus: Corpus, ids: ReadonlySet<string>): TurnRow[] | null {
  const end = corpus.turns.at(-1)?.timestamp ?? Number.NEGATIVE_INFINITY;
  const added = new Map<string, MemoryRecord>();
  for (const id of ids) {
    const record = records.get(id);
    if (corpus.has(id) || (record !== null && record.createdAt <= end)) return null;
    if (record !== null && record.context.trim() !== '') added.set(id, record);
  }
  return listRows(added.values(), undefined, (id) => (corpus.has(id) ? corpus.getTurn(id) : null)).sort(([a], [b]) =>
    compareTurns(a, b),
  );
}

/** Reads the conversations that some ids are of, or were. */
function readChanged(records: Pick<ArmRecords, 'get'>, corpus: Corpus, ids: ReadonlySet<string>): ChangedTurns {
  const read = new Map(Array.from(ids, (id) => [id, records.get(id)]));
  const conversations = new Set<string>();
  for (const [id, record] of read) {
    if (corpus.has(id)) conversations.add(corpus.getTurn(id).conversationId);
    if (record !== null) conversations.add(toTurn(record).conversationId);
  }
  for (const conversation of corpus.conversations)
    if (conversations.has(conversation.id))
      for (const { id } of conversation.turns) if (!read.has(id)) read.set(id, records.get(id));
  const left = [...read.values()].filter((record) => record !== null);
  return { rows: listRows(left, (id) => (ids.has(id) ? null : corpus.getTurn(id))), conversations };
}

/** Opens the kernel of a memory, which holds the records anyway. Its key is made once; no other process asks it. */
function createOwnSlices(): (corpus: Corpus, slice: SliceOptions) => Promise<SliceSource> {
  let before: Kernel | undefined;
  let keys: KeyRing | undefined;
  return async (corpus, { policy }) => {
    const { Kernel } = await import('../../kernel/authority/kernel.ts');
    const { generateKey } = await import('../../kernel/signatures/kernel-keys.ts');
    keys ??= { keys: [generateKey()] };
    const kernel = new Kernel({
      corpus,
      policies: [policy],
      keys,
      allowAsOf: true,
      cacheEntries: 100,
      ...(before && { before }),
    });
    before = kernel;
    const publicKeys = kernel.keys.map(({ publicKey }) => publicKey);
    return { findTrust: () => ({ publicKeys, replayed: null }), openAuthority: async () => kernel };
  };
}

/**
 * Ranks the records of a memory by an arm, as a run of an experiment ranks the turns of its dataset. What does not
 * depend on the question is kept from one question to the next. Where records come after all others, the corpus and the
 * indexes take them in at the cost of these. After another change, what is made of the turns of one conversation is
 * built again for the conversations of the records that changed; what is made of all turns is built again: O(N) for N
 * records. An outcome that is observed later makes nothing stale but the attribute `outcome` of its turn, see {@link
 * ObservedOutcomes}.
 */
export class ArmRecordRanking {
  readonly #arm: ServedArm;
  readonly #records: ArmRecords;
  readonly #inTurn = createSerialRunner();
  readonly #stop: () => void;
  readonly #partResults = new PartResults();
  readonly #openOwnSlices = createOwnSlices();
  /** Over all records. */
  #workspace: Workspace | null = null;
  /** Vectors of the workspace, [N, D], and room for more. */
  #vectors = new Float32Array(0);
  /** Records that changed since. */
  #changed = new Set<string>();
  readonly #outcomes = new ObservedOutcomes();
  /** Records of which an outcome was observed since. */
  readonly #observed = new Set<string>();

  /** @param arm borrowed. */
  constructor(arm: ServedArm, records: ArmRecords) {
    this.#arm = arm;
    this.#records = records;
    this.#stop = records.watch((ids, observed) => {
      for (const id of ids) this.#changed.add(id);
      if (observed !== null) this.#observed.add(observed);
    });
  }

  /** Ranks other records by the same arm. */
  over(records: ArmRecords): ArmRecordRanking {
    return new ArmRecordRanking(this.#arm, records);
  }

  /**
   * Records with the vectors of their texts, where they have none; null where each has one, so that a write of these
   * does not wait.
   *
   * @throws what the encoder throws.
   */
  embed<R extends UnembeddedRecord>(records: readonly R[]): Promise<R[]> | null {
    return records.some(isBare) ? this.#embed(records) : null;
  }

  async #embed<R extends UnembeddedRecord>(records: readonly R[]): Promise<R[]> {
    const bare = records.filter(isBare);
    const owners = bare.map(
      ({ id, metadata }): TextOwner => ({ kind: 'turn', id, ...(metadata?.sensitive === true && { sensitive: true }) }),
    );
    const texts = bare.map(({ context }) => context);
    const { vectors, dimension } = await this.#arm.embed(texts, owners, null);
    let row = 0;
    return records.map((record) =>
      isBare(record) ? { ...record, embedding: viewRow(vectors, dimension, row++).slice() } : record,
    );
  }

  /** @throws what the steps of the arm and its encoder throw; ValidationError for an anchor that is no record. */
  rank(question: CheckedQuestion): Promise<RankedRecords> {
    return this.#inTurn(async () => {
      const { sequence } = this.#records;
      const workspace = await this.#open();
      const { corpus } = workspace;
      const asOf = question.asOf ?? (corpus.turns.at(-1)?.timestamp ?? 0) + 1;
      const { conversationId } = question;
      const isEmpty = corpus.countEarlierTurns(asOf) === 0;
      const isKnown = conversationId === undefined || corpus.findConversation(conversationId) !== null;
      const ranking = isEmpty || !isKnown ? [] : await this.#rank(workspace, question, buildQuery(question, asOf));
      return { arm: this.#arm.name, sequence, asOf, ranking };
    });
  }

  async #open(): Promise<Workspace> {
    const ids = this.#changed;
    const before = this.#workspace;
    const observed = before === null ? [] : [...ids, ...this.#observed];
    for (const id of observed) this.#outcomes.set(id, this.#records.get(id)?.stats ?? null);
    this.#observed.clear();
    if (before !== null && ids.size === 0) return before;
    this.#changed = new Set();
    this.#workspace = null;
    try {
      this.#workspace = await (before === null
        ? this.#openWorkspace({ rows: listRows(this.#listAll()), conversations: new Set() })
        : this.#openWorkspace(this.#readChanges(before.corpus, ids), before));
    } finally {
      before?.dispose();
    }
    return this.#workspace;
  }

  #readChanges(corpus: Corpus, ids: ReadonlySet<string>): ChangedTurns {
    const rows = readLater(this.#records, corpus, ids);
    return rows === null ? readChanged(this.#records, corpus, ids) : { rows, conversations: new Set() };
  }

  #listAll(): MemoryRecord[] {
    const records = [...this.#records.records()];
    for (const { id, stats } of records) this.#outcomes.set(id, stats);
    return records;
  }

  /**
   * @param before has the turns of the conversations that did not change; what is made of these is taken from it.
   */
  async #openWorkspace({ rows, conversations }: ChangedTurns, before?: Workspace): Promise<Workspace> {
    const { seed, dimension, embed, options } = this.#arm;
    const turns = rows.map(([turn]) => turn);
    const isKept = ({ conversationId }: Turn) => !conversations.has(conversationId);
    const kept = conversations.size === 0 ? null : (before?.corpus.turns.filter(isKept) ?? []);
    const corpus =
      kept === null
        ? new Corpus(turns, before && { after: before.corpus })
        : new Corpus([...kept, ...turns], before && { like: before.corpus });
    const turnVectors = this.#placeVectors(corpus, rows, kept, before);
    const { slice } = readArm(options).outline.view;
    const slices = slice?.kernel === 'local' ? await this.#openOwnSlices(corpus, slice) : this.#arm.slices;
    const encode = async (options: EncoderOptions): Promise<Encoding> => {
      const texts = corpus.turns.map((turn) => turn.text);
      const { vectors, dimension: own } = await embed(texts, listOwners('turn', corpus.turns), options);
      return { dimension: own, turnVectors: vectors, queryVectors: new Float32Array(0) };
    };
    return new Workspace({
      ...{ corpus, queries: [], turnVectors, queryVectors: new Float32Array(0), dimension, seed, encode },
      encodeTexts: (texts, owners) => embed(texts, owners, null),
      openTokens: () => this.#arm.openTokens(),
      ...(slices && { slices }),
      ...(before && { before }),
      partResults: this.#partResults,
    });
  }

  /**
   * The vectors of a corpus. Where its last turns are new, those of the others stay where they are.
   *
   * @param kept turns of the corpus before that are there, all of them if null; before has their vectors.
   */
  #placeVectors(
    corpus: Corpus,
    rows: readonly TurnRow[],
    kept: readonly Turn[] | null,
    before?: Workspace,
  ): Float32Array {
    const { dimension } = this.#arm;
    const length = corpus.size * dimension;
    const isGrown = before !== undefined && corpus.startsWith(before.corpus);
    if (!isGrown) this.#vectors = new Float32Array(length);
    else if (length > this.#vectors.length) {
      const longer = new Float32Array(Math.ceil(length * SPARE));
      longer.set(before.turnVectors);
      this.#vectors = longer;
    }
    const vectors = this.#vectors;
    const place = (id: string, vector: Float32Array) => vectors.set(vector, corpus.getPosition(id) * dimension);
    if (before !== undefined && !isGrown)
      for (const { id } of kept ?? before.corpus.turns)
        place(id, viewRow(before.turnVectors, dimension, before.corpus.getPosition(id)));
    for (const [{ id }, vector] of rows) place(id, vector);
    return vectors.subarray(0, length);
  }

  async #rank(base: Workspace, { k = this.#arm.depth, pool }: CheckedQuestion, query: Query): Promise<ArmRanked[]> {
    const { name, options, comparesVectors, dimension, embed } = this.#arm;
    const embedQuery = (encoder: EncoderOptions | null) =>
      embed([query.text], listOwners('query', [query]), encoder).then(({ vectors }) => vectors);
    const encode = async (encoder: EncoderOptions): Promise<Encoding> => ({
      ...(await base.embedWith(encoder)),
      queryVectors: await embedQuery(encoder),
    });
    const queryVectors = comparesVectors ? await embedQuery(null) : new Float32Array(dimension);
    const corpus = this.#outcomes.applyTo(base.corpus, pool);
    const asked = base.asking({ queries: [query], queryVectors, encode, corpus });
    try {
      const ranked = await rankArm(asked, { ...options, name }, Math.min(k, this.#arm.depth));
      const scored = readRanking(base.corpus, listRankedPositions(ranked), 0);
      const { componentNames, components } = listRankedComponents(ranked, scored.length);
      return scored.map((turn, rank) => ({
        ...turn,
        parts: Object.fromEntries(
          componentNames.map((part, i) => [part, components[rank * componentNames.length + i] as number]),
        ),
      }));
    } finally {
      asked.dispose();
    }
  }

  /** Frees what is kept, after the last question. */
  dispose(): Promise<void> {
    this.#stop();
    return this.#inTurn(async () => {
      this.#workspace?.dispose();
      this.#workspace = null;
    });
  }
}

function buildQuery(question: CheckedQuestion, timestamp: number): Query {
  const { text: asked, author, channel, anchorTurnId, conversationId, attributes } = question;
  return {
    id: question.id ?? `question-${computeHash(question).slice(0, 16)}`,
    ...{ text: asked, timestamp, author, channel, anchorTurnId },
    ...(conversationId !== undefined && { conversationId }),
    ...(attributes && { attributes }),
    ...{ split: 'test', cluster: 'question' },
  };
}
