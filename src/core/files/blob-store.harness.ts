import { UnavailableError } from '../errors/errors.ts';
import type { BlobStore } from './blob-store.ts';

/** Keeps blobs in memory, with room for some bytes, as long as it is not away. */
export class SampleBlobStore implements BlobStore {
  readonly blobs = new Map<string, Uint8Array>();
  readonly room: number;
  isAway = false;

  constructor(room = 1e9) {
    this.room = room;
  }

  #assertThere(): void {
    if (this.isAway) throw new UnavailableError('store', 'away');
  }

  async get(name: string): Promise<Uint8Array | null> {
    this.#assertThere();
    return this.blobs.get(name)?.slice() ?? null;
  }

  async put(name: string, bytes: Uint8Array): Promise<boolean> {
    this.#assertThere();
    if (bytes.byteLength > this.room) return false;
    this.blobs.set(name, bytes.slice());
    return true;
  }
}
