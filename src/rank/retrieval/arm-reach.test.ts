import { expect, test } from 'vitest';
import { parseArm, SAMPLE_ARMS } from './arms.fixture.ts';
import { type RankOptions, readArm } from './written-steps.ts';

/** What the fusion of an arm says of the reach of its lists. */
function computeArmReach(options: RankOptions) {
  const { steps, outline } = readArm(options);
  return steps.flatMap((step) => step.reach(outline)?.compute() ?? []);
}

const search = { bm25: { k: 100 }, flat: { k: 60 }, hnsw: { k: 20 }, graph: { k: 50 } };
const reach = (steps: object) => computeArmReach(parseArm({ search, ...steps }));

test('the lists of a fusion are as long as their sources make them', () => {
  // Two lists agree up to the end of the shorter one.
  expect(reach({ fuse: { rrf: { bm25: 1, flat: 1, graph: 1 } } })).toEqual([
    { source: 'bm25', agreeing: 51, apart: 1 },
    { source: 'flat', agreeing: 51, apart: 1 },
    { source: 'graph', agreeing: 61, apart: 1 },
  ]);
});

test('the cosine has the lists of all dense sources', () => {
  // bm25 and cosine agree up to rank 80, of which 61 are ahead; cosine and graph agree up to 50; bm25 and graph too.
  const fuse = { rrf: { bm25: 1, cosine: 1, graph: 1 } };
  expect(reach({ score: { cosine: {} }, fuse })).toEqual([
    { source: 'bm25', agreeing: 51, apart: 1 },
    { source: 'cosine', agreeing: 51, apart: 1 },
    { source: 'graph', agreeing: 62, apart: 1 },
  ]);
});

test('a fusion of the pool has one leg for each column that is 0 outside its list', () => {
  expect(reach({ score: { cosine: {} }, fuse: { convex: { bm25: 0.3, cosine: 0.6, graph: 0.1 } } })).toEqual([
    { source: 'graph', agreeing: 101, apart: 181 },
  ]);
  expect(reach({ fuse: { convex: { flat: 0.8, bm25: 'rest' } } })).toEqual([]);
  expect(reach({ fuse: { 'pool-rrf': { bm25: 1, flat: 1 } } })).toEqual([]);
});

test('a column without sources of its own scores as many turns as the largest source finds', () => {
  const fuse = { convex: { strategy: 1, graph: 0.5 } };
  expect(reach({ score: { strategy: {} }, fuse })).toEqual([{ source: 'graph', agreeing: 101, apart: 101 }]);
});

test('an arm of one column, or with a mix of signals, fuses no lists', () => {
  expect(reach({ fuse: { only: 'graph' } })).toEqual([]);
  expect(reach({ mix: { weights: { 'bm25@share': 1 } } })).toEqual([]);
});

test('every sample arm has a reach, or none', () => {
  for (const arm of Object.values(SAMPLE_ARMS))
    for (const { agreeing, apart } of computeArmReach(arm)) expect(Math.min(agreeing, apart)).toBeGreaterThan(0);
});
