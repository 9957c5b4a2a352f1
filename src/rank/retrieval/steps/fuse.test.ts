import { expect, test } from 'vitest';
import { readArm } from '../form.ts';
import { retrieverOptions } from '../retriever-options.ts';
import { fuse } from './fuse.ts';

const candidates = ['flat', 'bm25', 'graph', 'run'].map((index) => ({
  index,
  k: 5,
  ...(index === 'run' && { path: 'a.trec', hash: 'h' }),
}));
const arm = readArm(retrieverOptions.parse({ candidates, relevance: { signals: ['cosine', 'bm25', 'graph', 'run'] } }));
const inputs = [{ name: 'candidates', key: 'k', inputs: [], isKept: true }];
const pool = { name: 'pool', key: 'p', inputs, isKept: true };

test.each([
  [['cosine', 'bm25'], 'rrf', true],
  [['cosine', 'bm25'], 'pool-rrf', false],
  [['cosine', 'graph'], 'pool-rrf', true],
  [['bm25', 'run'], 'pool-rrf', false],
] as const)('a fusion looks again at the lists that it ranks: %s by %s', (columns, method, looks) => {
  const step = fuse({ columns, fusion: { method, k: 60, weights: {} } });
  const plan = { stage: ({ name }: { readonly name: string }) => ({ name }) } as never;
  const stages = step.stages(arm.outline, plan, pool, plan);
  expect(stages.slice(columns.length)).toEqual(looks ? inputs : []);
});
