import type { MemoryStore } from '../store/memory-store.ts';

/** Writes snapshots of a memory as its journal grows, one at a time, while writes and queries go on. */
export class GrowthSnapshots {
  readonly #store: Pick<MemoryStore, 'grownBytes' | 'snapshotBytes'>;
  readonly #limit: number | null;
  readonly #snapshot: () => Promise<void>;
  #writing: Promise<void> | null = null;
  #error: unknown = null;
  /** After a failure the next attempt waits for this size. */
  #retryAt = 0;

  /** @param limit bytes of the journal; null: no snapshots. */
  constructor(
    store: Pick<MemoryStore, 'grownBytes' | 'snapshotBytes'>,
    limit: number | null,
    snapshot: () => Promise<void>,
  ) {
    this.#store = store;
    this.#limit = limit;
    this.#snapshot = snapshot;
  }

  /** Called after a write. A journal that is as large as its snapshot is replaced, so that all snapshots together cost as much as the writes do. */
  consider(): void {
    const { grownBytes, snapshotBytes } = this.#store;
    if (this.#limit === null || this.#writing !== null) return;
    if (grownBytes >= Math.max(this.#limit, snapshotBytes, this.#retryAt)) this.#writing = this.#write();
  }

  async #write(): Promise<void> {
    try {
      await this.#snapshot();
      this.#error = null;
      this.#retryAt = 0;
    } catch (error) {
      this.#error = error;
      this.#retryAt = 2 * this.#store.grownBytes;
    }
    this.#writing = null;
  }

  /** Waits for the snapshot that is being written. @throws the error of the last one: the journal has its writes all the same. */
  async end(): Promise<void> {
    await this.#writing;
    if (this.#error !== null) throw this.#error;
  }
}
