import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ChecksumMismatchError, StorageError } from '../../core/errors/errors.ts';
import { makeFolder } from '../../core/files/files.ts';
import type { VectorMatch } from '../../model/vector-index.ts';
import { FlatVectorIndex } from './flat-vectors.ts';
import { chooseLibrary, type GraphSpace, type HnswGraph, type HnswLibrary, type Nearest } from './hnsw.ts';
import { hashFile, type SavedIndex } from './saved-index.ts';
import {
  chooseGraph,
  type HnswOptions,
  type HnswVectorsOptions,
  type OpenVectorIndex,
  type UsearchVectorsOptions,
  type VectorIndexContext,
} from './vector-kind.ts';

/**
 * The best k of a graph and all that tie with the last of them, so that the tie rule can choose: asks for more until
 * the last has another distance than the k-th.
 *
 * @param size how many there are.
 */
function listSlotsPastTies(k: number, size: number, search: (wanted: number) => Nearest): ArrayLike<number> {
  for (let wanted = Math.min(size, k + 1); ; wanted = Math.min(size, 2 * wanted)) {
    const { labels, distances } = search(wanted);
    if (labels[wanted - 1] === -1) return labels.subarray(0, labels.indexOf(-1));
    if (wanted === size || distances[k - 1] !== distances[wanted - 1]) return labels;
  }
}

/** Up to this number of visible vectors a scan is as fast as the graph, and exact. */
const SCANNED_ROWS = 1000;
/** Below this share of visible vectors a scan is faster than a graph whose paths lead over hidden vectors. */
const SCANNED_SHARE = 0.1;
const FIRST_CAPACITY = 1024;

/**
 * Approximate search over vectors that come and go, in a navigable small-world graph. A removed vector stays in the
 * graph as a way to others, hidden from results; when more than half of the graph is hidden, it is rebuilt. Distances
 * of results are measured exactly. A search scans instead where few vectors are visible, and where the graph found
 * fewer than there are.
 *
 * Malkov, Yashunin 2018, "Efficient and robust approximate nearest neighbor search using hierarchical navigable small
 * world graphs".
 */
export class HnswVectorIndex extends FlatVectorIndex {
  override readonly name: string;
  protected override readonly rowsOfPause = 1;
  readonly #options: HnswOptions;
  readonly #library: HnswLibrary;
  #graph: HnswGraph | null = null;
  /** Slots that the graph shows. */
  readonly #shown = new Set<number>();
  readonly #marks = new WeakMap<Int32Array, Uint8Array>();

  constructor(
    options: HnswVectorsOptions | UsearchVectorsOptions,
    dimension: number,
    library: HnswLibrary = chooseLibrary(),
  ) {
    super(options, dimension);
    this.name = library.name;
    this.#options = chooseGraph(options);
    this.#library = library;
  }

  get #space(): GraphSpace {
    return this.distance === 'l2' ? 'l2' : 'ip';
  }

  protected override add(slot: number, replaced: number | undefined): void {
    if (replaced !== undefined) this.drop(replaced);
    if (!this.table.isSearchable(slot)) return;
    this.#graph ??= this.#library.create(this.#space, this.dimension, FIRST_CAPACITY, this.#options);
    this.#graph.add(this.table.getVector(slot), Int32Array.of(slot));
    this.#shown.add(slot);
  }

  protected override drop(slot: number): void {
    if (this.#shown.delete(slot)) this.#graph?.remove(slot);
  }

  protected override async rebuild(): Promise<void> {
    this.#graph = null;
    this.#shown.clear();
    for (let slot = 0; slot < this.table.end; slot++) {
      this.add(slot, undefined);
      await this.pause();
    }
  }

  protected override rank(query: Float32Array, k: number, slots: Int32Array | null): VectorMatch[] {
    const { table } = this;
    const seen = slots?.length ?? table.searchable;
    if (seen <= Math.max(SCANNED_ROWS, k, slots === null ? 0 : SCANNED_SHARE * table.searchable))
      return super.rank(query, k, slots);
    const found = this.#searchGraph(query, k, slots);
    return found.length < k ? super.rank(query, k, slots) : this.rankSlots(Array.from(found), query, k);
  }

  #searchGraph(query: Float32Array, k: number, slots: Int32Array | null): ArrayLike<number> {
    const graph = this.#graph as HnswGraph;
    const marks = slots === null ? undefined : this.#mark(slots);
    return listSlotsPastTies(k, this.#shown.size, (wanted) => graph.search(query, wanted, marks));
  }

  /** [slots] 1 for those that are listed; kept as long as the list is. */
  #mark(slots: Int32Array): Uint8Array {
    const known = this.#marks.get(slots);
    if (known !== undefined) return known;
    const marks = new Uint8Array(this.table.end);
    for (const slot of slots) marks[slot] = 1;
    this.#marks.set(slots, marks);
    return marks;
  }

  protected override async saveParts(folder: string): Promise<readonly string[]> {
    if (this.#graph === null) return [];
    makeFolder(folder);
    const partial = join(folder, 'graph.partial');
    try {
      await this.#graph.write(partial);
      this.#assertReadable(partial, this.#graph.count());
      const name = `graph-${(await hashFile(partial)).slice(0, 16)}.${this.name}`;
      syncFile(partial);
      renameSync(partial, join(folder, name));
      return [name];
    } catch (error) {
      rmSync(partial, { force: true });
      throw new StorageError('write', join(folder, 'graph'), { cause: error });
    }
  }

  /** The library does not report a full disk, so the file is read. */
  #assertReadable(path: string, count: number): void {
    const written = this.#library.read(this.#space, this.dimension, path, this.#options).count();
    if (written !== count) throw new Error(`${written} of ${count} points were written`);
  }

  /** Takes over the rows and the graph of a saved index; builds the graph if there is none of this library. */
  async restore({ rows, findPart }: SavedIndex): Promise<void> {
    const path = findPart('graph-');
    if (!path?.endsWith(`.${this.name}`)) return this.load(rows);
    this.assertRoom(rows);
    for (const row of rows) {
      this.table.put(row, row.slot);
      if (row.vector !== null) this.#shown.add(row.slot);
    }
    try {
      this.#graph = this.#library.read(this.#space, this.dimension, path, this.#options);
    } catch (error) {
      throw new ChecksumMismatchError(path, (error as Error).message, 'save the index again');
    }
  }

  protected override free(): void {
    this.#graph = null;
    this.#shown.clear();
  }
}

function syncFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Opens an index whose graph is one of a library. */
export async function openGraphVectors(
  options: HnswVectorsOptions | UsearchVectorsOptions,
  { dimension, saved }: VectorIndexContext,
  library: HnswLibrary,
): Promise<HnswVectorIndex> {
  const index = new HnswVectorIndex(options, dimension, library);
  if (saved !== undefined) await index.restore(saved);
  return index;
}

export const openHnswVectors: OpenVectorIndex<HnswVectorsOptions> = async (options, context) =>
  openGraphVectors(options, context, chooseLibrary());
