import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { fromTurns } from '../../data/memory/from-turns.ts';
import type { Dataset } from '../../model/dataset.ts';
import { assertModelData } from './model-data.ts';
import { buildSampleTrainingConfig } from './training-config.fixture.ts';
import { loadTrainingConfig } from './training-config.ts';

const root = mkdtempSync(join(tmpdir(), 'model-data-'));
afterAll(() => rmSync(root, { recursive: true }));

const loaded = fromTurns([{ id: 'a', conversationId: 'a', timestamp: 0, text: 'oak' }], [{ id: 'q', text: 'oak' }], {
  q: ['a'],
});
const DOCUMENTS: Dataset = { ...loaded, declaration: { ...loaded.declaration, times: 'none', threads: 'none' } };

/** Checks a training of one model against the data. */
function checkModel(model: object, more: object = {}, dataset = DOCUMENTS): void {
  const path = join(root, 'training.yaml');
  const signals = { groups: ['text', 'time', 'thread'] };
  writeFileSync(path, JSON.stringify({ ...buildSampleTrainingConfig(root), signals, model: model, ...more }));
  assertModelData(dataset, loadTrainingConfig(path));
}
const linear = (...signals: readonly string[]) => ({ name: 'linear', signals });
const LACKING = 'has no times and no threads, and model';

test('on documents a model is refused for each signal that needs times or threads', () => {
  expect(() => checkModel(linear('bm25@share', 'rank.age', 'thread.size', 'decay.24h'))).toThrow(
    `${LACKING} linear reads rank.age, decay.24h, thread.size; list other signals in model.signals; or leave the model out`,
  );
  expect(() => checkModel({ name: 'trajectory' })).toThrow(
    `${LACKING} trajectory reads trajectory coordinates; train model linear on other signals`,
  );
});

test('on documents a model is refused for a source of newest turns', () => {
  const candidates = [{ index: 'bm25', k: 3 }, { index: 'newest' }];
  expect(() => checkModel(linear('bm25@share'), { candidates })).toThrow(
    `${LACKING} linear reads source newest; use another source than newest`,
  );
});

test('a model of texts and vectors is accepted on documents, and any model elsewhere', () => {
  expect(() => checkModel(linear('bm25@share', 'cosine@share'))).not.toThrow();
  expect(() => checkModel({ name: 'trajectory' }, {}, loaded)).not.toThrow();
});
