import { createSerialRunner } from '../../core/values/once.ts';
import { type MemoryRecord, toTurn } from '../../model/turns/turn.ts';
import type { VectorIndex, VectorRow } from '../../model/vector-index.ts';
import type { MemoryStore } from '../store/memory-store.ts';

/** Rows that an index takes at once. */
const BLOCK = 1000;

/** Gives the record of an id as it is now, null for one that is gone. */
export type ReadRecord = (id: string) => MemoryRecord | null;

/** What indexes hold of a record. */
export function toRow(record: MemoryRecord): VectorRow {
  const { id, conversationId, parentId, timestamp, author, channel, attributes } = toTurn(record);
  const fields = { id, conversationId, parentId, timestamp, author, channel };
  return { id, vector: record.embedding, subject: attributes === undefined ? fields : { ...fields, attributes } };
}

/**
 * Keeps an index equal to a store. The moment at which readers see a change, its ids are noted; before the next search, and at the end of the write itself,
 * the index takes over what the store then holds of them. If the index fails, the ids stay noted: the write is in the store, and the next search brings it to the index or fails too.
 */
export class FollowingIndex {
  readonly index: VectorIndex;
  readonly #read: ReadRecord;
  readonly #inTurn = createSerialRunner();
  #noted = new Set<string>();

  /** @param ids that the index lacks, or holds as they no longer are. */
  constructor(index: VectorIndex, store: Pick<MemoryStore, 'view' | 'watch'>, ids: Iterable<string> = []) {
    this.index = index;
    this.#read = (id) => store.view(id);
    this.#note(ids);
    store.watch((changed) => this.#note(changed));
  }

  #note(ids: Iterable<string>): void {
    for (const id of ids) this.#noted.add(id);
  }

  /** Brings the index up to what is noted. @throws what the index throws. */
  catchUp(): Promise<void> {
    return this.#inTurn(async () => {
      const ids = [...this.#noted];
      this.#noted = new Set();
      try {
        for (let start = 0; start < ids.length; start += BLOCK) await this.#apply(ids.slice(start, start + BLOCK));
      } catch (error) {
        this.#note(ids); // applied twice does no harm
        throw error;
      }
    });
  }

  /** Brings the index up to what is noted, and makes it ready for a search. @throws what the index throws. */
  async build(): Promise<void> {
    await this.catchUp();
    await this.index.build();
  }

  /** Brings the index up to what is noted, and frees what removed rows have left in it. @throws what the index throws. */
  async compact(): Promise<void> {
    await this.catchUp();
    await this.index.compact?.();
  }

  async #apply(ids: readonly string[]): Promise<void> {
    const records = ids.map((id) => [id, this.#read(id)] as const);
    const rows = records.flatMap(([, record]) => (record === null ? [] : [toRow(record)]));
    const gone = records.flatMap(([id, record]) => (record === null ? [id] : []));
    if (rows.length > 0) await this.index.upsert(rows, true); // a record of a store keeps its vector
    if (gone.length > 0) await this.index.remove(gone);
  }
}
