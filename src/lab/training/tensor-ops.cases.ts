import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TensorOps } from '../../core/tensors/tensor-op.harness.ts';
import { buildSampleTrainingConfig } from './training-config.fixture.ts';
import { loadTrainingConfig } from './training-config.ts';

function countTrained(...overrides: string[]): number {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-training-'));
  try {
    const path = join(folder, 'training.yaml');
    writeFileSync(path, JSON.stringify(buildSampleTrainingConfig(folder)));
    return loadTrainingConfig(path, overrides).fitting.epochs;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const TENSOR_OPS: TensorOps = {
  loadTrainingConfig: {
    use: () => countTrained(),
    refuses: [
      [
        () => countTrained('fitting.epochs=soup'),
        /fitting\.epochs \(--set\): expected number|fitting\.epochs: expected number/,
      ],
    ],
  },
  runTraining: { provedIn: 'src/lab/training/training-run.test.ts' },
};
