import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import { once } from '../values/once.ts';

/** The memory of a backend; null where it is shared with threads, which kernels do not declare. */
function findMemory(backend: BackendWasm): WebAssembly.Memory | null {
  const { asm } = backend.wasm as unknown as { readonly asm?: { readonly memory?: WebAssembly.Memory } };
  return asm?.memory?.buffer instanceof ArrayBuffer ? asm.memory : null;
}

/** The backend `wasm` if it is active and has a memory for kernels, else null. */
export function findWasmBackend(): BackendWasm | null {
  if (tf.getBackend() !== 'wasm') return null;
  const backend = tf.backend() as BackendWasm;
  return findMemory(backend) === null ? null : backend;
}

/** The exports of a kernel, and the memory that it computes on. */
export interface WasmKernel<Exports> {
  readonly kernel: Exports;
  readonly memory: WebAssembly.Memory;
}

/**
 * A kernel of WebAssembly that computes on the memory of the backend `wasm`.
 *
 * @param bytes in base64.
 * @returns opens it on a backend of {@link findWasmBackend}, once for each.
 */
export function createWasmKernel<Exports>(bytes: string): (backend: BackendWasm) => WasmKernel<Exports> {
  const compile = once(() => new WebAssembly.Module(Buffer.from(bytes, 'base64')));
  const opened = new WeakMap<WebAssembly.Memory, WasmKernel<Exports>>();
  return (backend) => {
    const memory = findMemory(backend) as WebAssembly.Memory;
    let known = opened.get(memory);
    if (known === undefined) {
      const { exports } = new WebAssembly.Instance(compile(), { host: { memory } });
      known = { kernel: exports as unknown as Exports, memory };
      opened.set(memory, known);
    }
    return known;
  };
}
