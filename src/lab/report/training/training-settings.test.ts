import { expect, test } from 'vitest';
import type { ModelResult } from '../../training/training-result.ts';
import { inventTraining } from './invented-training.fixture.ts';
import { renderTrainingSettings } from './training-settings.ts';

const sample = inventTraining(7, { signals: 5, folds: 2, epochs: 5, queries: 29, second: false });
const [model] = sample.models as [ModelResult];

test('a row a fold with what it chose, and last what the weight file was trained with', () => {
  const folds = [
    { ...(model.folds[0] as ModelResult['folds'][number]), clusters: ['a', 'b'], point: { l2: 0.5 }, epochs: 3 },
    {
      ...(model.folds[1] as ModelResult['folds'][number]),
      clusters: ['c', 'd', 'e', 'f'],
      point: { l2: 0.25 },
      epochs: 5,
    },
  ];
  const { text } = renderTrainingSettings({
    ...sample,
    models: [{ ...model, folds, point: { l2: 0.125 }, epochs: 7 }],
  });
  const rows = [...text.matchAll(/<tr>(<td.*?)<\/tr>/g)].map(([, row]) =>
    [...(row as string).matchAll(/>([^<]*)<\/td>/g)].map(([, cell]) => cell),
  );
  expect(rows).toEqual([
    ['1', 'a, b', '0.5', '3'],
    ['2', '4 conversations', '0.25', '5'],
    ['all', 'nothing', '0.125', '7'],
  ]);
  expect(text).toContain('weights-linear.safetensors');
  expect(text).toContain('name: sample-training');
});
