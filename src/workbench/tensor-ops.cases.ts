import type { TensorOps } from '../core/tensor-op.harness.ts';

export const TENSOR_OPS: TensorOps = { experiment: { provedIn: 'src/workbench/experiment.test.ts' } };
