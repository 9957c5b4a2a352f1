import type { TensorData } from '../../core/files/safetensors.ts';
import { letEventsIn } from '../../core/values/event-loop.ts';
import { getOrCompute } from '../../core/values/once.ts';

/** A step between the data and a ranking: a pure function of its options and its inputs, known by its key before it is computed. */
export interface Stage {
  /** Lower-case words joined by hyphens, a folder's name. */
  readonly name: string;
  /** Hash of everything that the result depends on: name, options, the keys of the inputs, data, code. */
  readonly key: string;
  /** What it is computed from, and so what is made before it where the result itself is not kept. */
  readonly inputs: readonly Stage[];
  /** True if the result is kept on disk: not where computing it takes a few times less than writing and reading a file. */
  readonly isKept: boolean;
}

/** What a stage leaves: arrays of numbers, and plain JSON beside them. */
export type Artifact = Readonly<Record<string, unknown>>;

/** What a stage may return: a number, an array of numbers, or fields that each are an array of numbers or plain JSON. */
export type StageResult<T> = number | TensorData | { readonly [Field in keyof T]: TensorData | Json };
type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Keeps what stages made, for other runs and other processes. */
export interface StageStore {
  /** null if the stage is not stored. @throws ChecksumMismatchError for what was damaged. */
  read(stage: Stage): Artifact | null;
  write(stage: Stage, artifact: Artifact): void;
}

/** Keeps nothing: what a workspace uses unless it is given another. */
export const KEEPS_NOTHING: StageStore = { read: () => null, write() {} };

/** How often a stage was computed, found in memory, and read from the store. */
export interface StageCount {
  readonly executed: number;
  readonly memory: number;
  readonly disk: number;
}

/** By stage name. */
export type StageCounts = Readonly<Record<string, StageCount>>;

/** The sums, for example over the workspaces of a run; names in alphabetical order. */
export function addCounts(...all: readonly StageCounts[]): StageCounts {
  const names = [...new Set(all.flatMap((counts) => Object.keys(counts)))].sort();
  const sum = (name: string, field: keyof StageCount) =>
    all.reduce((total, counts) => total + (counts[name]?.[field] ?? 0), 0);
  return Object.fromEntries(
    names.map((name) => [
      name,
      { executed: sum(name, 'executed'), memory: sum(name, 'memory'), disk: sum(name, 'disk') },
    ]),
  );
}

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
