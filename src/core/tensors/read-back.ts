import type { Tensor } from '@tensorflow/tfjs-core';
import { letEventsIn } from '../values/event-loop.ts';
import { ensureBackend } from './backend.ts';
import { scoped } from './scope.ts';

/**
 * Runs `compute` in a scope, on the active backend or that of `auto`, and reads its float32 result back; no tensor
 * stays on the device. Asynchronous, since WebGPU allows nothing else in Node, and so that a computation of many
 * steps notices Ctrl-C.
 */
export async function readBack(name: string, compute: () => Tensor): Promise<Float32Array> {
  await ensureBackend();
  await letEventsIn();
  const tensor = scoped(name, compute);
  try {
    return await tensor.data<'float32'>();
  } finally {
    tensor.dispose();
  }
}
