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
const touch = { commit: 'def', backend: 'wasm', command: 'ragpp test-weights two-34' };
const lines = [
  'Look 5 at the test split of sample (31 test queries).',
  '1. one-12, commit abc: x',
  '2. two-34, commit def: y',
];

test('a table a model, and how often the test split was looked at', () => {
  const text = renderTestText(result, config, lines);
  expect(text.match(/^learned /gm)).toHaveLength(2);
  expect(text).toContain('Model trajectory');
  expect(text).not.toContain('random search');
  expect(text.trimEnd().split('\n').slice(-3)).toEqual(lines);
});

test('Markdown lists every look, and says by which command it was made', () => {
  const text = renderTestMarkdown(result, config, lines, touch);
  expect(text).toContain(`\n${lines[0]}\n\n${lines[1]}\n${lines[2]}\n`);
  expect(text).toMatch(/commit def, backend wasm; ragpp test-weights two-34\n$/);
});
