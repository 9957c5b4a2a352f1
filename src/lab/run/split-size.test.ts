import { expect, test } from 'vitest';
import { TASK_WITHOUT_QUERIES } from '../../data/prepared/datasets.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { assertSplitSize } from './split-size.ts';

function buildSplitDataset(dev: number, test: number, task = 't'): Dataset {
  const splits: Query['split'][] = [...Array<'dev'>(dev).fill('dev'), ...Array<'test'>(test).fill('test')];
  const queries = splits.map((split, i) => ({
    id: `q${i}`,
    text: 'eggs',
    timestamp: i,
    anchorTurnId: null,
    author: null,
    channel: null,
    split,
    cluster: 'c',
  }));
  return {
    name: 'mail-threads',
    declaration: { task, features: ['text'], licence: 'l' },
    corpus: new Corpus([]),
    queries,
    qrels: new Map(),
    relevantGrade: 1,
    gradeNames: {},
    devConversations: new Set(),
    facts: {},
    hash: '',
  };
}

test.each([
  [1, 2, 'test'],
  [2, 0, 'dev'],
  [1, 1, 'all'],
] as const)('%i and %i queries will do for split %s', (dev, test, split) => {
  expect(() => assertSplitSize(buildSplitDataset(dev, test), split)).not.toThrow();
});

test.each([
  [
    3,
    1,
    'test',
    'dataset mail-threads has one query in split test, fewer than 2 (dev holds 3); set evaluation.split: all, or add conversations',
  ],
  [
    3,
    0,
    'test',
    'dataset mail-threads has no query in split test, fewer than 2 (dev holds 3); set evaluation.split: all, or add conversations',
  ],
  [
    1,
    1,
    'dev',
    'dataset mail-threads has one query in split dev, fewer than 2 (test holds 1); set evaluation.split: all, or add conversations',
  ],
  [0, 1, 'test', 'dataset mail-threads has one query in split test, fewer than 2 (dev holds 0); add conversations'],
  [1, 0, 'all', 'dataset mail-threads has one query in dev and test together, fewer than 2; add conversations'],
] as const)('%i and %i queries are refused for split %s', (dev, test, split, message) => {
  expect(() => assertSplitSize(buildSplitDataset(dev, test), split)).toThrow(
    expect.objectContaining({ name: 'ValidationError', message }),
  );
});

test('a dataset that was loaded to be searched is refused with its option', () => {
  const dataset = buildSplitDataset(0, 0, TASK_WITHOUT_QUERIES);
  expect(() => assertSplitSize(dataset, 'test')).toThrow(
    /^dataset mail-threads has no query in split test, .+; set the option queries of the dataset to another value than none$/,
  );
});
