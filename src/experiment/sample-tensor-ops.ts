import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TensorOps } from '../core/sample-tensor-op.ts';
import { loadConfig, resolveConfig } from './config.ts';
import type { Plain } from './config-file.ts';
import { sampleConfig } from './sample-jsonl.ts';

const config = sampleConfig('folder') as Plain;

function loaded(...overrides: string[]): number {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-config-'));
  try {
    const path = join(folder, 'sample.yaml');
    writeFileSync(path, JSON.stringify(config));
    return loadConfig(path, overrides).arms.length;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const TENSOR_OPS: TensorOps = {
  loadConfig: { use: () => loaded(), refuses: [[() => loaded('seed=soup'), /seed \(--set\): expected number/]] },
  planStages: { provedIn: 'src/experiment/stage-plan.test.ts' },
  resolveConfig: {
    use: () => resolveConfig(config, 'sample').arms.length,
    refuses: [[() => resolveConfig({}, 'nothing'), /in nothing/]],
  },
  runExperiment: { provedIn: 'src/experiment/run.test.ts' },
};
