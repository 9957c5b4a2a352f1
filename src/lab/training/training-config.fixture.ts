import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeSampleJsonl } from '../run/jsonl.fixture.ts';

/** A training config for the made-up dataset of a folder, small enough to be trained within a test. */
export function buildSampleTrainingConfig(dataFolder: string) {
  return {
    name: 'sample-training',
    description: 'A made-up training.',
    seed: 3,
    backend: 'cpu',
    dataset: { name: 'jsonl', path: dataFolder },
    embedding: { encoder: 'lsa', dimension: 13 },
    candidates: [
      { index: 'bm25', k: 11 },
      { index: 'flat', k: 11 },
    ],
    signals: { groups: ['text', 'time'] },
    model: {
      name: 'linear',
      signals: ['bm25@share', 'cosine@share', 'cosine@next', 'decay.24h'],
      initial: { 'bm25@share': 1 },
    },
    fitting: {
      epochs: 3,
      patience: 2,
      seeds: 1,
      grid: { loss: ['listwise'], l2: [0.003, 0.03], learningRate: [0.05] },
    },
    crossValidation: { outer: 3, inner: 2 },
    evaluation: { samples: 199, resamples: 3 },
  };
}

/** Writes the made-up dataset and a training config for it. @returns the config's file. */
export function writeSampleTraining(folder: string): string {
  writeSampleJsonl(folder);
  const path = join(folder, 'training.yaml');
  writeFileSync(path, JSON.stringify(buildSampleTrainingConfig(folder)));
  return path;
}
