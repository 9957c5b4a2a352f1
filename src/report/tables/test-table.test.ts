import { expect, test } from 'vitest';
import { inventTraining } from '../training/invented-training.fixture.ts';
import { renderTestMarkdown, renderTestText } from './test-table.ts';

const { models, config, metrics, level } = inventTraining(7, {
  signals: 5,
  folds: 3,
  epochs: 5,
  queries: 29,
  second: true,
});
const result = {
  experiment: 'sample-training',
  dataset: { name: 'sample', hash: '77aa', split: 'test' as const },
  metrics,
  level,
  queries: 31,
  models: models.map((model) => ({ ...model, methods: model.methods.filter((_, m) => m !== 2 && m !== 3) })),
};
const look = (commit: string, training: string) => ({
  dataset: 'sample',
  features: ['text', 'time'],
  training,
  number: 1,
  commit,
  backend: 'wasm',
  command: `ragpp test-weights ${training}`,
});

test('a table a model, and how often the test split was looked at', () => {
  const text = renderTestText(result, config, [look('abc', 'one-12')]);
  expect(text.match(/^learned /gm)).toHaveLength(2);
  expect(text).toContain('Model trajectory');
  expect(text).not.toContain('random search');
  expect(text.trimEnd().split('\n').slice(-2)).toEqual([
    'Test split of sample looked at 1 time with the features text, time:',
    '1. one-12, commit abc: ragpp test-weights one-12',
  ]);
});

test('Markdown lists every look, whichever training made it, and says of which one it is', () => {
  const first = { ...look('abc', 'one-12'), note: 'with another encoder' };
  const text = renderTestMarkdown(result, config, [first, look('def', 'two-34')]);
  expect(text).toContain(
    [
      'Test split of sample looked at 2 times with the features text, time:',
      '',
      '1. one-12, commit abc (with another encoder): ragpp test-weights one-12',
      '2. two-34, commit def: ragpp test-weights two-34',
      '',
    ].join('\n'),
  );
  expect(text).toMatch(/commit def, backend wasm; ragpp test-weights two-34\n$/);
});
