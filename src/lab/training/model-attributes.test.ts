import { expect, test } from 'vitest';
import type { Dataset } from '../../model/dataset.ts';
import { assertModelAttributes } from './model-attributes.ts';
import { buildSampleTrainingConfig } from './training-config.fixture.ts';
import type { TrainingConfig } from './training-config.ts';

const describeDataset = (attributes?: object) =>
  ({ name: 'chats', corpus: { turns: [{ id: 'a' }, { id: 'b', attributes }] } }) as unknown as Dataset;
const describeTraining = (groups: string[], model: object) =>
  ({ ...buildSampleTrainingConfig('data'), signals: { groups, encoders: [] }, model }) as unknown as TrainingConfig;

test('a model that mixes signals of attributes which some turn has is accepted, and one that mixes none', () => {
  const both = describeDataset({ outcome: 1, importance: 0.5 });
  const all = describeTraining(['text', 'attributes'], { name: 'linear', signals: null });
  expect(() => assertModelAttributes(both, all)).not.toThrow();
  const some = describeTraining(['text', 'attributes'], { name: 'linear', signals: ['bm25', 'outcome'] });
  expect(() => assertModelAttributes(describeDataset({ outcome: 1 }), some)).not.toThrow();
  for (const model of [{ name: 'linear', signals: null }, { name: 'trajectory' }])
    expect(() => assertModelAttributes(describeDataset(), describeTraining(['text'], model))).not.toThrow();
});

test('each signal of an attribute that no turn has is named', () => {
  const all = describeTraining(['text', 'attributes'], { name: 'linear', signals: null });
  expect(() => assertModelAttributes(describeDataset(), all)).toThrow(
    'dataset chats has no attribute for signal outcome of model linear; signal importance of model linear: no turn has an attribute; ' +
      'list other signals in model.signals, or add the attribute to the turns',
  );
  expect(() => assertModelAttributes(describeDataset({ outcome: 1 }), all)).toThrow(
    'signal importance of model linear: turns have outcome; ',
  );
});
