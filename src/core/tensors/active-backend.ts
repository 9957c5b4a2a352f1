import { resolve } from 'node:path';
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
