import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TensorOps } from '../core/tensor-op.harness.ts';
import { sampleTrainingConfig } from './training-config.fixture.ts';
import { loadTrainingConfig } from './training-config.ts';

function trained(...overrides: string[]): number {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-training-'));
  try {
    const path = join(folder, 'training.yaml');
    writeFileSync(path, JSON.stringify(sampleTrainingConfig(folder)));
    return loadTrainingConfig(path, overrides).fitting.epochs;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const TENSOR_OPS: TensorOps = {
  loadTrainingConfig: {
    use: () => trained(),
    refuses: [
      [
        () => trained('fitting.epochs=soup'),
        /fitting\.epochs \(--set\): expected number|fitting\.epochs: expected number/,
      ],
    ],
  },
  runTest: { provedIn: 'src/training/training-run.test.ts' },
  runTraining: { provedIn: 'src/training/training-run.test.ts' },
};
