import { AsyncLocalStorage } from 'node:async_hooks';
import { resolve } from 'node:path';
import type { engine } from '@tensorflow/tfjs-core';
import { UnavailableError } from '../errors/errors.ts';
import { freezeDeeply } from '../values/once.ts';

/** The backends of TensorFlow.js by their names here, in the order in which `auto` tries them. */
export const BACKENDS = freezeDeeply(['cuda', 'node', 'webgpu', 'wasm', 'cpu'] as const);
/** A backend of TensorFlow.js. */
export type BackendName = (typeof BACKENDS)[number];

/** The backends that `ragpp backend install` brings. */
export const INSTALLABLE = freezeDeeply(['cuda', 'node', 'webgpu'] as const);
/** A backend that is not part of the project. */
export type InstallableBackend = (typeof INSTALLABLE)[number];

/** The packages of a backend that is not part of the project, the one that registers its kernels first. */
export const BACKEND_PACKAGES = freezeDeeply({
  cuda: ['@tensorflow/tfjs-node-gpu'],
  node: ['@tensorflow/tfjs-node'],
  webgpu: ['@tensorflow/tfjs-backend-webgpu', 'webgpu'],
} as const satisfies Record<InstallableBackend, readonly string[]>);

/** The folder of all installed backends, absolute: `backends` in the folder of RAGPP_CACHE, or `.ragpp/backends`. */
export function findBackendsFolder(): string {
  return resolve(process.env.RAGPP_CACHE || '.ragpp', 'backends');
}

/** The backend that computes the tensors of this process; readable without loading a tensor library. */
interface ActiveBackend {
  readonly name: BackendName;
  /** Why this backend and no other. */
  readonly reason: string;
  /** The version of libtensorflow, on the backends that compute with it. */
  readonly libtensorflow: string | undefined;
}

let active: ActiveBackend | undefined;

export function setActiveBackend(backend: ActiveBackend): void {
  active = backend;
}

export function hasActiveBackend(): boolean {
  return active !== undefined;
}

/** @throws UnavailableError before a backend was made active. */
export function getActiveBackend(): ActiveBackend {
  if (active === undefined)
    throw new UnavailableError('tensor backend', 'useBackend was not called; call useBackend first');
  return active;
}

/** The name of the active backend. @throws UnavailableError as {@link getActiveBackend} does. */
export function activeBackend(): BackendName {
  return getActiveBackend().name;
}

/** True where tensors lie in the memory of a graphics card, from which the host reads as little as it can. */
export function readsFromCard(): boolean {
  return active !== undefined && ['cuda', 'webgpu'].includes(active.name);
}

/** The cost of work. */
export interface Spent {
  /** Kernels of tensors that were launched. */
  readonly launches: number;
  /** Bytes of tensors that were read back. */
  readonly bytesRead: number;
  readonly seconds: number;
  /** Seconds of these in which V8 collected garbage; 0 before {@link setGarbageClock}. */
  readonly garbageSeconds: number;
}

const NOTHING: Spent = { launches: 0, bytesRead: 0, seconds: 0, garbageSeconds: 0 };

/** The cost of work so far, and of work within it that is measured by itself. */
interface Cost {
  readonly own: { -readonly [What in keyof Spent]: number };
  readonly parts: Spent[];
}

/** The sums of the fields; what `b` lacks is 0. */
export function addFields<T extends { readonly [Name in keyof T]: number }>(a: T, b: Partial<T> = {}): T {
  const sum: Record<string, number> = { ...a };
  for (const name in b) if (name in sum) sum[name] = (sum[name] as number) + (b[name] ?? 0);
  return sum as T;
}

/** The cost of the innermost work that is measured. */
const costs = new AsyncLocalStorage<Cost>();

/** Kernels that give numbers another name or shape and move none. */
const FREE: ReadonlySet<string> = new Set(['Identity', 'Reshape', 'ExpandDims']);

let readGarbageSeconds: (() => number) | undefined;

/** @param read the seconds in which V8 has collected garbage so far. */
export function setGarbageClock(read: () => number): void {
  readGarbageSeconds = read;
}

/**
 * Counts the kernels that an engine launches and the bytes that are read back from it, from now on and each once,
 * however often this is called. Bytes that are read synchronously are not counted: WebGPU cannot, so nothing here does.
 */
export function watchCosts(watched: ReturnType<typeof engine>): void {
  if (Object.hasOwn(watched, 'runKernel')) return;
  const { runKernel, read } = watched;
  watched.runKernel = function count(name, ...rest) {
    if (!FREE.has(name)) addCost({ launches: 1, bytesRead: 0 });
    return runKernel.call(this, name, ...rest) as never;
  };
  watched.read = (id) => {
    addCost({ launches: 0, bytesRead: watched.state.tensorInfo.get(id)?.bytes ?? 0 });
    return read.call(watched, id);
  };
}

/** Adds to the work that is measured here, also what another process did for it. */
export function addCost({ launches, bytesRead }: Pick<Spent, 'launches' | 'bytesRead'>): void {
  const own = costs.getStore()?.own;
  if (own === undefined) return;
  own.launches += launches;
  own.bytesRead += bytesRead;
}

/**
 * Runs work and tells its cost, also after it has waited: `own` without work within it that is measured by itself, and
 * `all`. What two of them take at the same time counts for both.
 */
export async function measureCost<T>(
  work: () => Promise<T> | T,
): Promise<{ readonly result: T; readonly own: Spent; readonly all: Spent }> {
  const [own, parts]: [Cost['own'], Spent[]] = [{ ...NOTHING }, []];
  const [started, garbage] = [performance.now(), readGarbageSeconds?.() ?? 0];
  const result = await costs.run({ own, parts }, work);
  const [seconds, garbageSeconds] = [(performance.now() - started) / 1000, (readGarbageSeconds?.() ?? 0) - garbage];
  const inner = parts.reduce(addFields, NOTHING);
  const all = { ...addFields<Spent>(own, inner), seconds, garbageSeconds };
  costs.getStore()?.parts.push(all);
  own.seconds = Math.max(0, seconds - inner.seconds);
  own.garbageSeconds = Math.max(0, garbageSeconds - inner.garbageSeconds);
  return { result, own, all };
}
