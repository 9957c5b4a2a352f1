import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { InstallableBackend } from './active-backend.ts';

const require = createRequire(import.meta.url);

/** Packages of which a process needs one copy: they hold the types of tensors, the registries and the backend `cpu`. */
const SHARED = ['@tensorflow/tfjs-core', '@tensorflow/tfjs-backend-cpu', '@tensorflow/tfjs-converter'];

/**
 * Loads a package from its folder. What it imports of {@link SHARED} are the copies of the project: these are entered
 * into Node's cache of modules under the paths of the package's own copies.
 */
function requireFrom(folder: string): unknown {
  const itsRequire = createRequire(join(folder, 'package.json'));
  for (const name of SHARED) {
    const own = require.resolve(name);
    const its = resolveOrNull(itsRequire, name);
    if (its === null || its === own) continue;
    require(own);
    require.cache[its] = require.cache[own];
  }
  return itsRequire(folder);
}

function resolveOrNull(from: NodeJS.Require, name: string): string | null {
  try {
    return from.resolve(name);
  } catch {
    return null; // the package does not need it
  }
}

/** `util.isNullOrUndefined` left Node 23, and the native bindings of tfjs 4.22 still call it. */
function restoreUtilForNative(): void {
  const util = require('node:util') as { isNullOrUndefined?: (value: unknown) => boolean };
  util.isNullOrUndefined ??= (value) => value === null || value === undefined;
}

/** One per process: tfjs keeps a device of the first instance, and the process crashes if that instance is collected. */
let webGpu: unknown;

interface WebGpuModule {
  create(flags: readonly string[]): unknown;
  readonly globals: object;
}

async function loadWebGpu(kernels: string, dawn: string): Promise<void> {
  const { create, globals } = (await import(pathToFileURL(require.resolve(dawn)).href)) as WebGpuModule;
  Object.assign(globalThis, globals);
  webGpu ??= create([]);
  Object.defineProperty(globalThis, 'navigator', {
    value: { ...globalThis.navigator, gpu: webGpu },
    configurable: true,
  });
  const { gpu } = globalThis.navigator as unknown as { gpu: { requestAdapter(): Promise<object | null> } };
  if ((await gpu.requestAdapter()) === null)
    throw new Error('no WebGPU adapter: no Vulkan driver was found; install libvulkan1 and the driver of the card');
  requireFrom(kernels);
}

/**
 * Loads the packages of a backend that is not part of the project.
 *
 * @param folders of its packages, in the order of `BACKEND_PACKAGES`.
 * @returns the name by which TensorFlow.js knows the backend.
 * @throws Error of the package, or for a machine without a driver.
 */
export async function loadInstallable(name: InstallableBackend, folders: readonly string[]): Promise<string> {
  const [first, second] = folders as [string, string];
  if (name === 'webgpu') {
    await loadWebGpu(first, second);
    return 'webgpu';
  }
  restoreUtilForNative();
  requireFrom(first);
  return 'tensorflow';
}
