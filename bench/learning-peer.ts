import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FeatureTable } from '../src/rank/learning/feature-table.ts';
import type { LinearModel } from '../src/rank/learning/linear-model.ts';
import { standardiseSignals } from '../src/rank/learning/standardisation.ts';
import { LEARNING_RATE, type LearningRow, type LearningSettings } from './learning-workload.ts';
import { type FoundPython, runPeer } from './peers/python.ts';

/** The grades' shares of each row. */
function computeGradeShares({ grades, width }: FeatureTable): Float32Array {
  return grades.map((grade, pair) => {
    const start = pair - (pair % width);
    return grade === 0 ? 0 : grade / grades.subarray(start, start + width).reduce((sum, other) => sum + other, 0);
  });
}

/** The results of torch on the same, standardised table. */
export function runTorchLearning(
  python: FoundPython,
  settings: LearningSettings,
  table: FeatureTable,
  model: LinearModel,
): LearningRow {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-learning-'));
  try {
    writeFileSync(join(folder, 'features.f32'), standardiseSignals(table, model.signals, model.standardisation));
    writeFileSync(join(folder, 'shares.f32'), computeGradeShares(table));
    writeFileSync(join(folder, 'settings.json'), JSON.stringify({ ...settings, learningRate: LEARNING_RATE }));
    const report = runPeer<Omit<LearningRow, 'name' | 'epochs'>>(python, 'learning.py', folder);
    return { name: 'torch', epochs: settings.epochs, ...report };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
