import { bindFilter } from '../../model/filter/compile-filter.ts';
import { type FilterSubject, resolveVariables } from '../../model/filter/filter.ts';
import type { Distance, VectorSearchOptions } from '../../model/vector-index.ts';
import { measureDistance } from './distances.ts';
import { type RowScan, ScannedRows } from './row-scan.ts';
import type { PreparedRow } from './vector-doors.ts';

/** Slots of removed rows that a table keeps at least before it is compacted. */
const KEPT_HOLES = 1000;
/** Filters whose accepted slots are kept until the next write. */
const KEPT_FILTERS = 16;

interface Slot {
  readonly id: string;
  readonly subject: FilterSubject;
  readonly hasVector: boolean;
}

/**
 * Rows by id in memory, each in a slot with a number. A replaced row gets a new slot, and slots are never used twice until {@link RowTable.compact} renumbers
 * them, so that a graph over slots stays valid.
 */
export class RowTable {
  readonly dimension: number;
  readonly metric: Distance;
  #vectors: ScannedRows;
  #slots: (Slot | undefined)[] = [];
  #slotOf = new Map<string, number>();
  #searchable = 0;
  readonly #accepted = new Map<string, Int32Array>();

  constructor(dimension: number, metric: Distance) {
    this.dimension = dimension;
    this.metric = metric;
    this.#vectors = new ScannedRows(dimension);
  }

  /** Rows, those without a vector included. */
  get size(): number {
    return this.#slotOf.size;
  }

  has(id: string): boolean {
    return this.#slotOf.has(id);
  }

  /** Rows that a query can find. */
  get searchable(): number {
    return this.#searchable;
  }

  /** One more than the highest slot. */
  get end(): number {
    return this.#slots.length;
  }

  /** True if more than half of the slots are of removed rows. */
  get isSparse(): boolean {
    return this.end - this.size > Math.max(KEPT_HOLES, this.size);
  }

  /**
   * @param slot no lower than {@link RowTable.end}; the slots between are holes.
   * @returns the new slot, and the slot of the row that was replaced.
   */
  put(
    { id, vector, subject }: PreparedRow,
    slot: number = this.#slots.length,
  ): { readonly slot: number; readonly replaced: number | undefined } {
    const replaced = this.delete(id);
    this.#vectors.set(slot, vector);
    if (vector !== null) this.#searchable++;
    while (this.#slots.length < slot) this.#slots.push(undefined);
    this.#slots.push({ id, subject, hasVector: vector !== null });
    this.#slotOf.set(id, slot);
    return { slot, replaced };
  }

  /** @returns the slot that the id had. */
  delete(id: string): number | undefined {
    this.#accepted.clear();
    const slot = this.#slotOf.get(id);
    if (slot === undefined) return undefined;
    if (this.isSearchable(slot)) this.#searchable--;
    this.#slots[slot] = undefined;
    this.#slotOf.delete(id);
    return slot;
  }

  /** Renumbers the slots without holes, in the order that they had. */
  compact(): void {
    const rows = this.list();
    this.#vectors = new ScannedRows(this.dimension); // the rows hold views of the old ones
    this.#slots = [];
    this.#slotOf = new Map();
    this.#searchable = 0;
    for (const row of rows) this.put(row);
  }

  /** Every row in the order of slots; vectors are views. */
  list(): (PreparedRow & { readonly slot: number })[] {
    return this.#slots.flatMap((row, slot) =>
      row === undefined
        ? []
        : [{ slot, id: row.id, subject: row.subject, vector: row.hasVector ? this.getVector(slot) : null }],
    );
  }

  isSearchable(slot: number): boolean {
    return this.#slots[slot]?.hasVector === true;
  }

  getId(slot: number): string {
    return (this.#slots[slot] as Slot).id;
  }

  /** [D] a view. */
  getVector(slot: number): Float32Array {
    return this.#vectors.get(slot);
  }

  measure(slot: number, query: Float32Array): number {
    return measureDistance(this.metric, this.getVector(slot), 0, query);
  }

  /** Begins a scan for the rows near a query; another scan ends it. */
  beginScan(query: Float32Array): RowScan {
    return this.#vectors.beginScan(this.metric, query);
  }

  /** Finds the first searchable slot from `slot` on that may have a score of at least `worst`; `until` without one. */
  findNear(scan: RowScan, slot: number, until: number, worst: number): number {
    let found = this.#vectors.findNear(scan, slot, until, worst);
    while (found < until && !this.isSearchable(found)) found = this.#vectors.findNear(scan, found + 1, until, worst);
    return found;
  }

  /** The slots that a search may find; null: every searchable slot. */
  listVisible({ filter, variables, visible }: VectorSearchOptions): Int32Array | null {
    if (filter === undefined && visible === undefined) return null;
    const accepted = filter === undefined ? null : this.#listAccepted(filter, variables);
    if (visible === undefined) return accepted;
    const named = [...visible].map((id) => this.#slotOf.get(id) ?? -1).filter((slot) => this.isSearchable(slot));
    if (accepted === null) return Int32Array.from(named);
    const passes = new Set(accepted);
    return Int32Array.from(named.filter((slot) => passes.has(slot)));
  }

  #listAccepted(
    filter: NonNullable<VectorSearchOptions['filter']>,
    variables: VectorSearchOptions['variables'],
  ): Int32Array {
    const key = JSON.stringify([filter, ...resolveVariables(filter, variables)]); // not those that it does not read
    const known = this.#accepted.get(key);
    if (known !== undefined) return known;
    const accepts = bindFilter(filter, variables);
    const slots: number[] = [];
    for (const [slot, row] of this.#slots.entries())
      if (row?.hasVector === true && accepts(row.subject)) slots.push(slot);
    if (this.#accepted.size >= KEPT_FILTERS) this.#accepted.delete(this.#accepted.keys().next().value as string);
    const found = Int32Array.from(slots);
    this.#accepted.set(key, found);
    return found;
  }
}
