import { expect, test } from 'vitest';
import { sampleTraining } from './sample-training.ts';
import { renderTestMarkdown, renderTestText } from './test-table.ts';

const { models, config, metrics, level } = sampleTraining(7, {
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
const touch = (commit: string) => ({ commit, backend: 'wasm', command: `ragpp test-weights ${commit}` });

test('a table a model, and how often the test split was looked at', () => {
  const text = renderTestText(result, config, [touch('abc')]);
  expect(text.match(/^learned /gm)).toHaveLength(2);
  expect(text).toContain('Model trajectory');
  expect(text).not.toContain('random search');
  expect(text).toMatch(/\nTest split looked at 1 time\.\n$/);
});

test('Markdown says of which look it is', () => {
  const text = renderTestMarkdown(result, config, [touch('abc'), touch('def')]);
  expect(text).toContain('Test split looked at 2 times.');
  expect(text).toMatch(/commit def, backend wasm; ragpp test-weights def\n$/);
});
