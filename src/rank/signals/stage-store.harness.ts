import type { Artifact, Stage, StageStore } from './stage.ts';

/** Keeps artifacts in memory, in copies, as a disk does: what is read is not what was written. */
export class SampleStageStore implements StageStore {
  readonly artifacts = new Map<string, { readonly stage: Stage; readonly artifact: Artifact }>();

  read({ key }: Stage): Artifact | null {
    const found = this.artifacts.get(key);
    return found === undefined ? null : structuredClone(found.artifact);
  }

  write(stage: Stage, artifact: Artifact): void {
    this.artifacts.set(stage.key, { stage, artifact: structuredClone(artifact) });
  }
}
