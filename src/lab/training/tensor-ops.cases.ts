import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TensorOps } from '../../core/tensors/tensor-op.harness.ts';
import { buildSampleTrainingConfig } from './training-config.fixture.ts';
import { loadTrainingConfig, openTrainingConfig } from './training-config.ts';

async function countOpened(...overrides: string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-training-'));
  try {
    const path = join(folder, 'training.yaml');
    writeFileSync(path, JSON.stringify(buildSampleTrainingConfig(folder)));
    return (await openTrainingConfig(path, overrides)).fitting.epochs;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

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
  openTrainingConfig: {
    use: () => countOpened(),
    refuses: [[() => countOpened('plugins=[none.mjs]'), /none\.mjs is not available: no file is there/]],
  },
  runTest: { provedIn: 'src/lab/training/training-run.test.ts' },
  runTraining: { provedIn: 'src/lab/training/training-run.test.ts' },
};
