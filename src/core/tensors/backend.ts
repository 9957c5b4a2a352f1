import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { UnavailableError } from '../errors/errors.ts';
import {
  activeBackend,
  BACKENDS,
  type BackendName,
  hasActiveBackend,
  setActiveBackend,
  watchLaunches,
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

function findPackageFolder(name: string): string | undefined {
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

/**
 * Commands that install what the backends need. `--save-dev`, since npm does not install an optional peer of the project itself.
 */
const INSTALL = {
  cuda: 'npm install @tensorflow/tfjs-node-gpu@4.22.0',
  node: 'npm install --save-dev @tensorflow/tfjs-node@4.22.0',
  webgpu: 'npm install --save-dev webgpu@0.6.2 @tensorflow/tfjs-backend-webgpu@4.22.0',
};

/** npm downloads the native library when it installs the package; without the library an import registers kernels and then throws. */
function probeNative(name: 'cuda' | 'node', packageName: string): BackendProbe {
  const folder = findPackageFolder(packageName);
  if (folder === undefined)
    return { name, available: false, reason: `${packageName} is not installed: ${INSTALL[name]}` };
  const lib = join(folder, 'lib');
  const built =
    existsSync(lib) &&
    readdirSync(lib).some((entry) => entry.startsWith('napi-v') && existsSync(join(lib, entry, 'tfjs_binding.node')));
  return built
    ? { name, available: true, reason: folder }
    : {
        name,
        available: false,
        reason: `${packageName} has no native library: npm rebuild ${packageName} on a network that reaches storage.googleapis.com`,
      };
}

function probeWebGpu(): BackendProbe {
  const missing = ['webgpu', '@tensorflow/tfjs-backend-webgpu'].filter((name) => findPackageFolder(name) === undefined);
  return missing.length === 0
    ? { name: 'webgpu', available: true, reason: 'packages found; the adapter is asked for on first use' }
    : { name: 'webgpu', available: false, reason: `${missing.join(', ')} not installed: ${INSTALL.webgpu}` };
}

/** Says for each backend whether it can be tried here, without loading anything native. */
export function probeBackends(): BackendProbe[] {
  return [
    probeNative('cuda', '@tensorflow/tfjs-node-gpu'),
    probeNative('node', '@tensorflow/tfjs-node'),
    probeWebGpu(),
    { name: 'wasm', available: true, reason: '@tensorflow/tfjs-backend-wasm' },
    {
      name: 'cpu',
      available: true,
      reason: '@tensorflow/tfjs-backend-cpu; about 75 times slower than wasm, for tests',
    },
  ];
}

/** `util.isNullOrUndefined` left Node 23, and the native bindings of tfjs 4.22 still call it. */
async function restoreUtilForNative(): Promise<void> {
  const util = require('node:util') as { isNullOrUndefined?: (value: unknown) => boolean };
  util.isNullOrUndefined ??= (value) => value === null || value === undefined;
}

/** One per process: tfjs keeps a device of the first instance, and the process crashes if that instance is collected. */
let webGpu: unknown;

const LOADERS: Readonly<Record<BackendName, () => Promise<string>>> = {
  cuda: async () => {
    await restoreUtilForNative();
    await import('@tensorflow/tfjs-node-gpu' as string);
    return 'tensorflow';
  },
  node: async () => {
    await restoreUtilForNative();
    await import('@tensorflow/tfjs-node' as string);
    return 'tensorflow';
  },
  webgpu: async () => {
    const { create, globals } = (await import('webgpu' as string)) as {
      create: (flags: string[]) => unknown;
      globals: object;
    };
    Object.assign(globalThis, globals);
    webGpu ??= create([]);
    Object.defineProperty(globalThis, 'navigator', {
      value: { ...globalThis.navigator, gpu: webGpu },
      configurable: true,
    });
    const adapter = await (
      globalThis.navigator as unknown as { gpu: { requestAdapter(): Promise<object | null> } }
    ).gpu.requestAdapter();
    if (adapter === null) throw new Error('no WebGPU adapter: no Vulkan driver was found');
    await import('@tensorflow/tfjs-backend-webgpu' as string);
    return 'webgpu';
  },
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
  watchLaunches(tf.engine());
}

/** The version of the library of tfjs-node and tfjs-node-gpu; undefined on other backends. */
function readTensorflowVersion(): string | undefined {
  if (tf.getBackend() !== 'tensorflow') return undefined;
  return (tf.backend() as unknown as { binding: { TF_Version: string } }).binding.TF_Version;
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
    setActiveBackend({ name, reason: describeAutoChoice(name), libtensorflow: readTensorflowVersion() });
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
    setActiveBackend({
      name: choice,
      reason: 'named in the command or the config',
      libtensorflow: readTensorflowVersion(),
    });
    return choice;
  } catch (error) {
    throw new UnavailableError(`backend ${choice}`, `${describeThrown(error)}; ${REMEDY}`, { cause: error });
  }
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
