import { answerOr, type BlobStore } from '../../core/files/blob-store.ts';
import { readBytes } from '../../core/files/files.ts';
import type { Artifact, Stage, StageStore } from '../../rank/signals/stage.ts';
import type { StageCache } from './stage-cache.ts';

/** The name of a stage's result among blobs. */
const nameBlob = ({ name, key }: Stage) => `stages/${name}/${key}`;

/** Offers the result of a stage to other machines, if it is on this disk. */
export async function offerStage(local: StageCache, blobs: BlobStore, stage: Stage): Promise<void> {
  if (local.read(stage) !== null) await blobs.put(nameBlob(stage), readBytes(local.joinStagePath(stage)));
}

/** The results of stages on disk, and those of other machines: the result that one computes is fetched by the others. */
export class SharedStages implements StageStore {
  readonly #local: StageCache;
  readonly #blobs: BlobStore;

  constructor(local: StageCache, blobs: BlobStore) {
    this.#local = local;
    this.#blobs = blobs;
  }

  /** @throws ChecksumMismatchError for a damaged file or blob. */
  async read(stage: Stage): Promise<Artifact | null> {
    const found = this.#local.read(stage);
    if (found !== null) return found;
    const bytes = await answerOr(this.#blobs.get(nameBlob(stage)), null);
    if (bytes === null) return null;
    this.#local.keep(stage, bytes);
    return this.#local.read(stage);
  }

  async write(stage: Stage, artifact: Artifact): Promise<void> {
    this.#local.write(stage, artifact);
    await answerOr(offerStage(this.#local, this.#blobs, stage), undefined);
  }
}
