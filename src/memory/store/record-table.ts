import { RecordNotFoundError } from '../../core/errors/errors.ts';
import { JOURNAL_START } from '../../core/journal/position.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import type { MemoryRecord, OutcomeStatistics } from '../../model/turns/turn.ts';
import { updateOutcomeStatistics } from '../outcomes/outcome-statistics.ts';
import type { Operation } from './operation.ts';

/** What operations so far have made of a store. */
export class RecordTable {
  readonly #records = new Map<string, MemoryRecord>();
  /** The number of records by attribute. */
  readonly #attributes = new Map<string, number>();
  /** The position of the last operation that was applied. */
  position = JOURNAL_START;

  get size(): number {
    return this.#records.size;
  }

  get(id: string): MemoryRecord | undefined {
    return this.#records.get(id);
  }

  /** A record, if there is one. */
  first(): MemoryRecord | undefined {
    return this.#records.values().next().value;
  }

  list(): MemoryRecord[] {
    return [...this.#records.values()];
  }

  /** The attributes that some record has, by the number of these records. */
  get attributes(): ReadonlyMap<string, number> {
    return this.#attributes;
  }

  put(records: readonly MemoryRecord[]): void {
    for (const record of records) {
      this.#count(this.#records.get(record.id), -1);
      this.#count(record, 1);
      this.#records.set(record.id, Object.freeze(freezeFields(record)));
    }
  }

  remove(ids: readonly string[]): number {
    return ids.reduce((count, id) => {
      this.#count(this.#records.get(id), -1);
      return count + Number(this.#records.delete(id));
    }, 0);
  }

  #count(record: MemoryRecord | undefined, step: 1 | -1): void {
    for (const name of Object.keys(record?.metadata ?? {})) {
      const count = (this.#attributes.get(name) ?? 0) + step;
      if (count === 0) this.#attributes.delete(name);
      else this.#attributes.set(name, count);
    }
  }

  /** @throws RecordNotFoundError. */
  observe(id: string, outcome: number): OutcomeStatistics {
    const record = this.#records.get(id);
    if (record === undefined) throw new RecordNotFoundError('memory store', id);
    const stats = Object.freeze(updateOutcomeStatistics(record.stats, outcome));
    this.#records.set(id, Object.freeze({ ...record, stats }));
    return stats;
  }

  /** Removes records, and their ids from the records that name them. O(records). @returns how many were removed. */
  forget(ids: readonly string[]): number {
    const removed = this.remove(ids);
    this.put(this.#detach(new Set(ids)));
    return removed;
  }

  /** The records that name one of some others, without its id. */
  #detach(ids: ReadonlySet<string>): MemoryRecord[] {
    return this.list().flatMap((record) => (ids.has(record.id) ? [] : (withoutMentions(record, ids) ?? [])));
  }

  /** The ids of the records that an operation, which is not done yet, adds, replaces or removes. */
  listChanged(operation: Operation): readonly string[] {
    if (operation.kind === 'put') return operation.records.map(({ id }) => id);
    if (operation.kind === 'observe') return [];
    if (operation.kind === 'remove') return operation.ids;
    const ids = new Set(operation.ids);
    return [...operation.ids.filter((id) => this.#records.has(id)), ...this.#detach(ids).map(({ id }) => id)];
  }

  apply(operation: Operation): void {
    if (operation.kind === 'put') this.put(operation.records);
    else if (operation.kind === 'remove') this.remove(operation.ids);
    else if (operation.kind === 'forget') this.forget(operation.ids);
    else this.observe(operation.id, operation.outcome);
  }
}

/** A record without the ids of others that it names as its parent or as what replaced it; null if it names none. */
function withoutMentions(record: MemoryRecord, ids: ReadonlySet<string>): MemoryRecord | null {
  const { supersededBy, ...others } = record.metadata;
  const isChild = record.parentId !== null && ids.has(record.parentId);
  const isReplaced = typeof supersededBy === 'string' && ids.has(supersededBy);
  if (!isChild && !isReplaced) return null;
  const parentId = isChild ? null : record.parentId;
  return { ...record, parentId, metadata: isReplaced ? others : record.metadata };
}

function freezeFields(record: MemoryRecord): MemoryRecord {
  for (const value of [record.metadata, record.stats, record.trajectory]) freezeDeeply(value);
  return record;
}
