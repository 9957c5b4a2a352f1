import type { TensorOps } from '../../core/tensors/tensor-op.harness.ts';

export const TENSOR_OPS: TensorOps = {
  openMemorySources: { provedIn: 'src/memory/context/memory-sources.test.ts' },
};
