import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plain } from '../composition/config-file.ts';
import { writeSampleJsonl } from '../run/jsonl.fixture.ts';

/** A config whose one arm is fitted, small enough to be run within a test, on the made-up dataset of a folder. */
export function buildSampleTrainingConfig(dataFolder: string) {
  return {
    name: 'sample-training',
    description: 'A made-up training.',
    seed: 3,
    backend: 'cpu',
    dataset: { name: 'jsonl', path: dataFolder },
    embedding: { encoder: 'lsa', dimension: 13 },
    evaluation: { metrics: ['recall@10', 'ndcg@10', 'mrr@10'], samples: 199 },
    arms: {
      learned: {
        steps: [
          { search: { bm25: { k: 11 }, flat: { k: 11 } } },
          {
            mix: {
              signals: { groups: ['text', 'time'] },
              fit: {
                model: {
                  name: 'linear',
                  signals: ['bm25@share', 'cosine@share', 'cosine@next', 'decay.24h'],
                  initial: { 'bm25@share': 1 },
                },
                epochs: 3,
                patience: 2,
                seeds: 1,
                loss: ['listwise'],
                l2: [0.003, 0.03],
                learningRate: [0.05],
                folds: 3,
                innerFolds: 2,
                resamples: 3,
              },
            },
          },
        ],
      },
    },
  };
}

type SampleConfig = Omit<ReturnType<typeof buildSampleTrainingConfig>, 'arms'>;

/** The config with other keys, and with other values at paths of its arm. */
export function changeSampleTraining(dataFolder: string, set: Plain, more: Plain = {}): SampleConfig & Plain {
  const { arms, ...config } = buildSampleTrainingConfig(dataFolder);
  return { ...config, ...more, arms: { learned: { ...arms.learned, set } } };
}

/** Overrides of the arm of a fit by paths within it: `mix.fit.epochs=2`. */
export const setFit = (...changes: string[]): string[] => changes.map((change) => `arms.learned.set.${change}`);

/** Writes the made-up dataset and a config that fits an arm on it. @returns the config's file. */
export function writeSampleTraining(folder: string): string {
  writeSampleJsonl(folder);
  const path = join(folder, 'training.yaml');
  writeFileSync(path, JSON.stringify(buildSampleTrainingConfig(folder)));
  return path;
}
