import { IndexCapacityError, ValidationError } from '../../core/errors/errors.ts';
import { createEventBreaks } from '../../core/terminal/progress.ts';
import { createSerialRunner } from '../../core/values/once.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { Distance, VectorIndex, VectorMatch, VectorRow, VectorSearchOptions } from '../../model/vector-index.ts';
import { allocateCandidates } from '../candidates/query-batch.ts';
import { TopSelection } from '../candidates/top-selection.ts';
import { scoreDistance } from './distances.ts';
import { RowTable } from './row-table.ts';
import { type SavedOptions, writeSavedIndex } from './saved-index.ts';
import { type PreparedRow, prepareQueries, prepareRows } from './vector-doors.ts';
import { type FlatVectorsOptions, LARGEST_TABLE, type OpenVectorIndex } from './vector-kind.ts';

/** The runs of successive numbers in a list, each as its first number and the one after its last. */
function* listRuns(numbers: ArrayLike<number>): Generator<readonly [start: number, end: number]> {
  for (let i = 0; i < numbers.length; ) {
    const start = numbers[i] as number;
    let end = start + 1;
    for (i++; i < numbers.length && numbers[i] === end; i++) end++;
    yield [start, end];
  }
}

/**
 * Exact search over vectors that come and go, in this process: every visible vector is compared in float32, and what
 * may be among the best once more in float64. O(N D) a query. Calls are answered one after another, in their order. An
 * index that is faster adds to it what it has besides the rows.
 */
export class FlatVectorIndex implements VectorIndex {
  readonly name: string = 'flat';
  readonly dimension: number;
  readonly distance: Distance;
  readonly capacity: number;
  protected readonly table: RowTable;
  protected readonly pause = createEventBreaks();
  /** Rows that are added before the next look at the clock. */
  protected readonly rowsOfPause: number = 256;
  readonly #options: SavedOptions;
  readonly #inTurn = createSerialRunner();
  #disposed = false;

  /** @param options written beside a saved index, so that it is reopened as it was. */
  constructor(options: SavedOptions & { readonly capacity?: number | undefined }, dimension: number) {
    if (!Number.isInteger(dimension) || dimension < 1)
      throw new ValidationError(`dimension is not a positive integer: ${dimension}; pass the length of the vectors`);
    this.dimension = dimension;
    this.distance = options.distance;
    this.capacity = options.capacity ?? LARGEST_TABLE;
    this.table = new RowTable(dimension, options.distance);
    this.#options = options;
  }

  /** Called after rows were put, with their slots and those that they replaced. */
  protected add(_slot: number, _replaced: number | undefined): void {}
  protected drop(_slot: number): void {}
  /** Called after the slots were renumbered. */
  protected async rebuild(): Promise<void> {}
  protected free(): void {}

  /** Writes what the index has besides its rows. @returns the names of the files. */
  protected async saveParts(_folder: string): Promise<readonly string[]> {
    return [];
  }

  /** @param slots that may be found, each searchable; null: every one. */
  protected rank(query: Float32Array, k: number, slots: Int32Array | null): VectorMatch[] {
    return this.rankSlots(slots, query, k);
  }

  /**
   * The best k of some slots by the tie rule. Sums in float32 exclude rows that cannot be among the best so far; the
   * distance of any other row is measured exactly.
   *
   * @param slots each searchable; null: every one.
   */
  protected rankSlots(slots: ArrayLike<number> | null, query: Float32Array, k: number): VectorMatch[] {
    const { table, distance: metric } = this;
    const width = Math.min(k, table.searchable);
    if (width === 0) return [];
    const top = new TopSelection(width, (a, b) => compareBytes(table.getId(b), table.getId(a)));
    const scan = table.beginScan(query);
    const find = (slot: number, end: number) => table.findNear(scan, slot, end, top.least);
    for (const [start, end] of slots === null ? [[0, table.end] as const] : listRuns(slots))
      for (let slot = find(start, end); slot < end; slot = find(slot + 1, end))
        top.offer(slot, scoreDistance(metric, table.measure(slot, query)));
    const best = allocateCandidates(1, width);
    top.drainTo(best, 0);
    return Array.from(best.positions)
      .filter((slot) => slot >= 0)
      .map((slot) => {
        const distance = table.measure(slot, query);
        return { id: table.getId(slot), score: scoreDistance(metric, distance), distance };
      });
  }

  count(): Promise<number> {
    return this.#run(async () => this.table.size);
  }

  async upsert(rows: readonly VectorRow[], isFixed = false): Promise<void> {
    const prepared = prepareRows(rows, this.dimension, this.distance, isFixed);
    await this.#run(() => this.load(prepared));
  }

  /** @param rows of different ids. @throws IndexCapacityError. */
  protected assertRoom(rows: readonly PreparedRow[]): void {
    if (this.table.size + rows.length <= this.capacity) return;
    const wanted = this.table.size + rows.filter(({ id }) => !this.table.has(id)).length;
    if (wanted > this.capacity)
      throw new IndexCapacityError(this.name, this.capacity, wanted, 'remove rows, raise capacity, or use pgvector');
  }

  /** Rows that have passed the door. @throws IndexCapacityError. */
  async load(rows: readonly PreparedRow[]): Promise<void> {
    this.assertRoom(rows);
    for (const [i, row] of rows.entries()) {
      const { slot, replaced } = this.table.put(row);
      this.add(slot, replaced);
      if (i % this.rowsOfPause === 0) await this.pause();
    }
    await this.#compactIfSparse();
  }

  remove(ids: readonly string[]): Promise<number> {
    return this.#run(async () => {
      let removed = 0;
      for (const id of ids) {
        const slot = this.table.delete(id);
        if (slot === undefined) continue;
        this.drop(slot);
        removed++;
      }
      await this.#compactIfSparse();
      return removed;
    });
  }

  async #compactIfSparse(): Promise<void> {
    if (this.table.isSparse) await this.#compact();
  }

  async #compact(): Promise<void> {
    this.table.compact();
    await this.rebuild();
  }

  compact(): Promise<void> {
    return this.#run(async () => {
      if (this.table.end > this.table.size) await this.#compact();
    });
  }

  /** A search has nothing to build, since writes do: waits for them. */
  build(): Promise<void> {
    return this.#run(async () => {});
  }

  async search(queries: Float32Array, k: number, options: VectorSearchOptions = {}): Promise<VectorMatch[][]> {
    const prepared = prepareQueries(queries, k, this.dimension, this.distance);
    return this.#run(async () => {
      const slots = this.table.listVisible(options);
      const found: VectorMatch[][] = [];
      for (const query of prepared) {
        options.signal?.throwIfAborted();
        found.push(query === null ? [] : this.rank(query, k, slots));
        await this.pause();
      }
      return found;
    });
  }

  save(folder: string): Promise<void> {
    return this.#run(async () => {
      const parts = await this.saveParts(folder);
      await writeSavedIndex(folder, this.#options, this.dimension, this.table.list(), parts);
    });
  }

  async dispose(): Promise<void> {
    if (this.#disposed) return;
    await this.#run(async () => {
      this.#disposed = true;
      this.free();
    });
  }

  #run<T>(work: () => Promise<T>): Promise<T> {
    return this.#inTurn(() => {
      if (this.#disposed) throw new ValidationError(`index was disposed: ${this.name}; open it again`);
      return work();
    });
  }
}

export const openFlatVectors: OpenVectorIndex<FlatVectorsOptions> = async (options, { dimension, saved }) => {
  const index = new FlatVectorIndex(options, dimension);
  if (saved !== undefined) await index.load(saved.rows);
  return index;
};
