import type { TensorOps } from '../core/tensor-op.harness.ts';

export const TENSOR_OPS: TensorOps = {
  openMemorySources: { provedIn: 'src/context/memory-sources.test.ts' },
};
