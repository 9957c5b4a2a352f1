import { expect, test } from 'vitest';
import { readDisplay } from '../../../core/display/display.harness.ts';
import { displayFinishedTraining } from '../../training/training-display.ts';
import { inventTraining } from './invented-training.fixture.ts';

test('a finished training shows the methods of each model, then what was learned', async () => {
  const result = inventTraining(3, { signals: 3, folds: 2, epochs: 3, queries: 7, second: true });
  const bundle = await readDisplay(displayFinishedTraining({ result }));
  const [model] = result.models;
  expect(bundle['text/plain']).toContain(`${result.name}, model ${model?.name}`);
  for (const { name } of model?.methods ?? []) expect(bundle['text/plain']).toContain(name);
  expect(bundle['text/plain']).toContain('learned numbers');
  expect(bundle['text/html']?.match(/<table>/g)).toHaveLength(2 * result.models.length);
});
