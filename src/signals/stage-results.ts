import { letEventsIn } from '../core/event-loop.ts';
import { getOrCompute } from '../core/once.ts';
import type { Artifact, Stage, StageCount, StageCounts, StageResult, StageStore } from './stage.ts';

const NONE: StageCount = { executed: 0, memory: 0, disk: 0 };

/** The name of a number or a single array. */
const VALUE = 'value';

function toArtifact(result: unknown): Artifact {
  return typeof result === 'number' || ArrayBuffer.isView(result) ? { [VALUE]: result } : (result as Artifact);
}

function fromArtifact(artifact: Artifact): unknown {
  return VALUE in artifact ? artifact[VALUE] : artifact;
}

/** Has each stage computed at most once: what is in memory is taken from there, then what the store holds, and only then is it made. */
export class StageResults {
  readonly #store: StageStore;
  readonly #results = new Map<string, Promise<unknown>>();
  readonly #counts = new Map<string, StageCount>();

  constructor(store: StageStore) {
    this.#store = store;
  }

  run<T extends StageResult<T>>(stage: Stage, compute: () => Promise<T> | T): Promise<T> {
    if (this.#results.has(stage.key)) this.#count(stage, 'memory');
    const makeLater = () => letEventsIn().then(() => this.#make(stage, compute));
    return getOrCompute(this.#results, stage.key, makeLater) as Promise<T>;
  }

  async #make<T extends StageResult<T>>(stage: Stage, compute: () => Promise<T> | T): Promise<T> {
    const stored = stage.isKept ? this.#store.read(stage) : null;
    if (stored !== null) {
      this.#count(stage, 'disk');
      return fromArtifact(stored) as T;
    }
    const result = await compute();
    this.#count(stage, 'executed');
    if (stage.isKept) this.#store.write(stage, toArtifact(result));
    return result;
  }

  #count({ name }: Stage, where: keyof StageCount): void {
    const counts = this.#counts.get(name) ?? NONE;
    this.#counts.set(name, { ...counts, [where]: counts[where] + 1 });
  }

  listStageCounts(): StageCounts {
    return Object.fromEntries([...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  clear(): void {
    this.#results.clear();
  }
}
