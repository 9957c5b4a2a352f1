import type { Tensor } from '@tensorflow/tfjs-core';
import { letEventsIn } from './event-loop.ts';
import { scoped } from './scope.ts';

/**
 * Runs `compute` in a scope and reads its float32 result back; no tensor stays on the device. Asynchronous, since WebGPU knows no other way in Node, and the
 * place where a computation made of many steps notices Ctrl-C.
 */
export async function readBack(name: string, compute: () => Tensor): Promise<Float32Array> {
  await letEventsIn();
  const tensor = scoped(name, compute);
  try {
    return await tensor.data<'float32'>();
  } finally {
    tensor.dispose();
  }
}
