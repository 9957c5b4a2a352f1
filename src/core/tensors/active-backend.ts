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

/** Kernels of tensors that were launched, and time. */
interface Spent {
  readonly launches: number;
  readonly seconds: number;
}

/** The cost of work so far. */
interface Cost {
  launches: number;
  readonly started: number;
  /** Costs of work within it that is measured by itself. */
  readonly inner: Spent[];
}

/** The cost of the innermost work that is measured. */
const costs = new AsyncLocalStorage<Cost>();

/** Kernels that give numbers another name or shape and move none. */
const FREE: ReadonlySet<string> = new Set(['Identity', 'Reshape', 'ExpandDims']);

/** Counts the kernels that an engine launches from now on, each once, however often this is called. */
export function watchLaunches(watched: Pick<ReturnType<typeof engine>, 'runKernel'>): void {
  if (Object.hasOwn(watched, 'runKernel')) return;
  const { runKernel } = watched;
  watched.runKernel = function count(name, ...rest) {
    const cost = costs.getStore();
    if (cost !== undefined && !FREE.has(name)) cost.launches++;
    return runKernel.call(this, name, ...rest) as never;
  };
}

/** Counts kernels that another process launched for the work that is measured here. */
export function addLaunches(count: number): void {
  const cost = costs.getStore();
  if (cost !== undefined) cost.launches += count;
}

/**
 * Runs work and tells how many kernels of tensors it launched and how many seconds it took, also after it has waited.
 * Work within it that is measured by itself counts for itself alone, and in `all`; what two of them take at the same
 * time, for both.
 */
export async function measureCost<T>(
  work: () => Promise<T> | T,
): Promise<Spent & { readonly result: T; readonly all: Spent }> {
  const cost: Cost = { launches: 0, started: performance.now(), inner: [] };
  const result = await costs.run(cost, work);
  const sumInner = (what: keyof Spent) => cost.inner.reduce((sum, spent) => sum + spent[what], 0);
  const all = { launches: cost.launches + sumInner('launches'), seconds: (performance.now() - cost.started) / 1000 };
  costs.getStore()?.inner.push(all);
  return { result, launches: cost.launches, seconds: Math.max(0, all.seconds - sumInner('seconds')), all };
}
