import { expect, test } from 'vitest';
import { parseArm } from '../arms.fixture.ts';
import { readArm } from '../written-steps.ts';
import { fuse } from './fuse.ts';

const run = { path: 'a.trec', hash: 'h', k: 5 };
const search = { flat: { k: 5 }, bm25: { k: 5 }, graph: { k: 5 }, run };
const arm = readArm(parseArm({ search, fuse: 'rrf' }));
const inputs = [{ name: 'candidates', key: 'k', inputs: [], isKept: true }];
const pool = { name: 'pool', key: 'p', inputs, isKept: true };

test.each([
  [['flat', 'bm25'], 'rrf', true],
  [['flat', 'bm25'], 'pool-rrf', false],
  [['flat', 'graph'], 'pool-rrf', true],
  [['bm25', 'run'], 'pool-rrf', false],
] as const)('a fusion looks again at the lists that it ranks: %s by %s', (columns, method, looks) => {
  const step = fuse({ columns, fusion: { method, k: 60, weights: {} } });
  const plan = { stage: ({ name }: { readonly name: string }) => ({ name }) } as never;
  const stages = step.stages(arm.outline, plan, pool, plan);
  expect(stages.slice(columns.length)).toEqual(looks ? inputs : []);
});
