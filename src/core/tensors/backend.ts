import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { UnavailableError } from '../errors/errors.ts';
import {
  activeBackend,
  BACKEND_PACKAGES,
  BACKENDS,
  type BackendName,
  findBackendsFolder,
  hasActiveBackend,
  INSTALLABLE,
  type InstallableBackend,
  setActiveBackend,
  watchCosts,
} from './active-backend.ts';

export { activeBackend, BACKENDS, type BackendName };
/** A backend by name, or `auto`: the first that works, in the order of `BACKENDS`. */
export type BackendChoice = BackendName | 'auto';

/** The state of a backend on this machine: usable, or why not. */
export interface BackendProbe {
  readonly name: BackendName;
  readonly available: boolean;
  /** The package that was found, or the reason why the backend is missing and the command that installs it. */
  readonly reason: string;
}

const require = createRequire(import.meta.url);

/** The folder of a package that the project finds; undefined if it finds none. */
function findPackageFolder(name: string): string | undefined {
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

/** Says what keeps a package from being loaded. Without its library, tfjs-node registers kernels and then throws. */
function describeFault(name: string, folder: string): string | null {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly version: string };
  if (name.startsWith('@tensorflow/') && version !== tf.version_core)
    return `${name} of ${folder} has version ${version}, where TensorFlow.js has ${tf.version_core}`;
  const lib = join(folder, 'lib');
  const builds = existsSync(lib) ? readdirSync(lib) : [];
  const isBuilt = builds.some((build) => existsSync(join(lib, build, 'tfjs_binding.node')));
  return name.includes('tfjs-node') && !isBuilt ? `${name} of ${folder} has no native library` : null;
}

/** Folders of the packages of a backend, in the order of `BACKEND_PACKAGES`, or what is missing. */
type FoundPackages = { readonly folders: string[] } | { readonly fault: string };

/** Finds packages that the project finds, or else those that `ragpp backend install` brought. Loads nothing. */
export function findPackages(backend: InstallableBackend): FoundPackages {
  const [first] = BACKEND_PACKAGES[backend];
  const installed = join(findBackendsFolder(), backend, 'node_modules');
  if (!existsSync(installed) && findPackageFolder(first) === undefined) return { fault: `${first} is not installed` };
  const own = checkPackages(backend, findPackageFolder);
  return 'folders' in own || !existsSync(installed) ? own : checkPackages(backend, (name) => join(installed, name));
}

function checkPackages(backend: InstallableBackend, locate: (name: string) => string | undefined): FoundPackages {
  const folders: string[] = [];
  const faults: string[] = [];
  for (const name of BACKEND_PACKAGES[backend]) {
    const folder = locate(name);
    const isThere = folder !== undefined && existsSync(folder);
    const fault = isThere ? describeFault(name, folder) : `${name} is not installed`;
    if (fault !== null) faults.push(fault);
    else folders.push(folder as string);
  }
  return faults.length === 0 ? { folders } : { fault: faults.join(', ') };
}

function probeInstallable(name: InstallableBackend): BackendProbe {
  const found = findPackages(name);
  if ('folders' in found) return { name, available: true, reason: found.folders[0] as string };
  return { name, available: false, reason: `${found.fault}: ragpp backend install ${name}` };
}

/** Says for each backend whether it can be tried here, without loading anything native. */
export function probeBackends(): BackendProbe[] {
  return [
    ...INSTALLABLE.map(probeInstallable),
    { name: 'wasm', available: true, reason: '@tensorflow/tfjs-backend-wasm' },
    {
      name: 'cpu',
      available: true,
      reason: '@tensorflow/tfjs-backend-cpu; about 75 times slower than wasm, for tests',
    },
  ];
}

/** @throws Error naming what is missing. */
async function loadPackages(name: InstallableBackend): Promise<string> {
  const found = findPackages(name);
  if ('fault' in found) throw new Error(found.fault);
  return (await import('./installable-backends.ts')).loadInstallable(name, found.folders);
}

const LOADERS: Readonly<Record<BackendName, () => Promise<string>>> = {
  cuda: () => loadPackages('cuda'),
  node: () => loadPackages('node'),
  webgpu: () => loadPackages('webgpu'),
  wasm: async () => {
    const wasm = await import('@tensorflow/tfjs-backend-wasm');
    wasm.setWasmPaths(`${join(findPackageFolder('@tensorflow/tfjs-backend-wasm') as string, 'dist')}/`);
    return 'wasm';
  },
  cpu: async () => {
    await import('@tensorflow/tfjs-backend-cpu');
    return 'cpu';
  },
};

/** True where the batched matrix product is slower than a loop of plain ones (STYLE: 1.5 against 20 GFLOP/s on wasm). */
export function prefersPlainProducts(): boolean {
  return tf.getBackend() === 'wasm' || tf.getBackend() === 'cpu';
}

/** True if the active backend has a kernel of this name: not every backend has every kernel. */
export function hasKernel(name: string): boolean {
  return tf.getKernel(name, tf.getBackend()) !== undefined;
}

/** False if a tensor on the device can be read only asynchronously, as with WebGPU in Node. */
export function readsSynchronously(): boolean {
  return tf.getBackend() !== 'webgpu';
}

/** The wasm module adds hooks to the process that print its whole source on any uncaught error; removes these hooks. */
export async function withoutHooks<T>(work: () => Promise<T>): Promise<T> {
  const events = ['uncaughtException', 'unhandledRejection'] as const;
  const before = events.map((event) => process.rawListeners(event));
  try {
    return await work();
  } finally {
    for (const [i, event] of events.entries()) {
      for (const listener of process.rawListeners(event)) {
        if (!before[i]?.includes(listener)) process.removeListener(event, listener as (...args: unknown[]) => void);
      }
    }
  }
}

async function load(name: BackendName): Promise<void> {
  tf.enableProdMode(); // in tfjs this only silences its greeting and its advice to install another backend
  const registered = await LOADERS[name]();
  await withoutHooks(async () => {
    if (!(await tf.setBackend(registered))) throw new Error(`tfjs refused the backend ${registered}`);
    await tf.ready();
  });
  watchCosts(tf.engine());
}

/** The fields of the backend of tfjs-node and tfjs-node-gpu that are read here. */
export interface NativeBackend extends tf.KernelBackend {
  readonly binding: { readonly TF_Version: string };
  readonly isUsingGpuDevice: boolean;
}

function activate(name: BackendName, reason: string): void {
  const { binding, isUsingGpuDevice } = tf.backend() as Partial<NativeBackend>;
  const remark = name === 'cuda' && !isUsingGpuDevice ? '; it computes on the processor, since it found no card' : '';
  setActiveBackend({ name, reason: `${reason}${remark}`, libtensorflow: binding?.TF_Version });
}

const REMEDY = 'run ragpp doctor to see what is missing, or use --backend auto';

function describeAutoChoice(chosen: BackendName): string {
  const passedOver = BACKENDS.slice(0, BACKENDS.indexOf(chosen)).join(', ');
  return `auto: the first that loads${passedOver && `; not available here: ${passedOver}`}`;
}

/**
 * Makes a tensor backend active. `auto` takes the first that loads, in the order of {@link BACKENDS}; a named one that does not load is an error,
 * never a silent fallback.
 *
 * @throws UnavailableError naming the backend and the reason.
 */
export async function useBackend(choice: BackendChoice): Promise<BackendName> {
  const probes = probeBackends();
  if (choice === 'auto') {
    const name = await findLoadableBackend(probes, load);
    activate(name, describeAutoChoice(name));
    return name;
  }
  const probe = probes.find(({ name }) => name === choice);
  if (probe === undefined)
    throw new UnavailableError(
      'tensor backend',
      `unknown backend ${choice}; use auto or one of ${BACKENDS.join(', ')}`,
    );
  if (!probe.available) throw new UnavailableError(`backend ${choice}`, `${probe.reason}; ${REMEDY}`);
  try {
    await load(choice);
    activate(choice, 'named in the command or the config');
    return choice;
  } catch (error) {
    throw new UnavailableError(`backend ${choice}`, `${describeThrown(error)}; ${REMEDY}`, { cause: error });
  }
}

/** The backend that {@link useBackend} makes active; null where only loading shows whether one works. */
export function foreseeBackend(choice: BackendChoice): BackendName | null {
  const first = choice === 'auto' ? probeBackends().find(({ available }) => available)?.name : choice;
  return first === 'wasm' || first === 'cpu' ? first : null;
}

let ensured: Promise<unknown> | null = null;

/**
 * Makes a backend active as `auto` does, unless one is active: asynchronous functions call it before they
 * compute with tensors.
 *
 * @throws UnavailableError as {@link useBackend} does.
 */
export async function ensureBackend(): Promise<void> {
  if (hasActiveBackend() || tf.engine().backendName) return;
  ensured ??= useBackend('auto').finally(() => {
    ensured = null;
  });
  await ensured;
}

/** Loads what computes with tensors from its making on, with a backend as {@link ensureBackend} has it. */
export async function loadOnBackend<T>(load: () => Promise<T>): Promise<T> {
  await ensureBackend();
  return load();
}

/** @throws UnavailableError with the reason of each, if none loads. */
export async function findLoadableBackend(
  probes: readonly BackendProbe[],
  load: (name: BackendName) => Promise<void>,
): Promise<BackendName> {
  const reasons: string[] = [];
  for (const { name, available, reason } of probes) {
    if (!available) {
      reasons.push(`${name}: ${reason}`);
      continue;
    }
    try {
      await load(name);
      return name;
    } catch (error) {
      reasons.push(`${name}: ${describeThrown(error)}`);
    }
  }
  throw new UnavailableError(
    'tensor backend',
    `${reasons.join('; ')}; run ragpp doctor for the commands that install one`,
  );
}

function describeThrown(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
