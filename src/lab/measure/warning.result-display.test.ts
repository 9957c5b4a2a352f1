import { expect, test } from 'vitest';
import type { ExperimentResult } from './result.ts';
import { buildResultBundle } from './warning.ts';

const result = {
  name: 'sample',
  baseline: 'bm25',
  arms: [{ name: 'bm25', metrics: { 'ndcg@10': { mean: 0.496, low: 0.47, high: 0.52 } } }],
  failures: [],
  queries: Array.from({ length: 29 }),
} as unknown as ExperimentResult;

test('a notebook shows which look at the test split a result is', () => {
  const look = { dataset: 'threads', number: 3, numberAtQueries: 3, queries: 29 };
  for (const text of Object.values(buildResultBundle({ ...result, look })))
    expect(text).toContain('sample: 29 queries. Look 3 at the test split of threads (29 test queries).');
  expect(buildResultBundle(result)['text/plain']).not.toContain('Look');
});
