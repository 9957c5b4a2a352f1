import { expect, test } from 'vitest';
import { SAMPLE_ARMS } from './arms.fixture.ts';
import { readArm } from './form.ts';
import { checkRetrieverOptions, type RetrieverOptions, retrieverOptions } from './retriever-options.ts';

/** What the fusion of an arm says of the reach of its lists. */
function computeArmReach(options: RetrieverOptions) {
  const { steps, outline } = readArm(options);
  return steps.flatMap((step) => step.reach(outline)?.compute() ?? []);
}

const candidates = [
  { index: 'bm25', k: 100 },
  { index: 'flat', k: 60 },
  { index: 'hnsw', k: 20 },
  { index: 'graph', k: 50 },
];
const reach = (relevance: object, rest: object = {}) =>
  computeArmReach(checkRetrieverOptions(retrieverOptions.parse({ candidates, relevance, ...rest })));
const signals = ['bm25', 'cosine', 'graph'];

test('the lists of a fusion are as long as their sources make them', () => {
  // bm25 and cosine agree up to rank 80, of which 61 are ahead; cosine and graph agree up to 50; bm25 and graph too.
  expect(reach({ signals, fusion: { method: 'rrf' } })).toEqual([
    { source: 'bm25', agreeing: 51, apart: 1 },
    { source: 'cosine', agreeing: 51, apart: 1 },
    { source: 'graph', agreeing: 62, apart: 1 },
  ]);
});

test('a fusion of the pool has one leg for each signal that is 0 outside its list', () => {
  const weights = { bm25: 0.3, cosine: 0.6, graph: 0.1 };
  expect(reach({ signals, fusion: { method: 'convex', weights } })).toEqual([
    { source: 'graph', agreeing: 101, apart: 181 },
  ]);
  expect(reach({ signals: ['cosine', 'bm25'] })).toEqual([]);
  expect(reach({ signals: ['bm25', 'cosine'], fusion: { method: 'pool-rrf' } })).toEqual([]);
});

test('a signal without sources of its own scores as many turns as the largest source finds', () => {
  const fusion = { method: 'convex', weights: { recency: 1, graph: 0.5 } };
  expect(reach({ signals: ['recency', 'graph'], fusion })).toEqual([{ source: 'graph', agreeing: 101, apart: 101 }]);
});

test('an arm of one signal, or with a mix of signals, fuses no lists', () => {
  expect(reach({ signals: ['graph'] })).toEqual([]);
  const fusion = { method: 'rrf' };
  expect(reach({ signals, fusion }, { scoring: { weights: { 'bm25@share': 1 } } })).toEqual([]);
});

test('every sample arm has a reach, or none', () => {
  for (const arm of Object.values(SAMPLE_ARMS))
    for (const { agreeing, apart } of computeArmReach(arm)) expect(Math.min(agreeing, apart)).toBeGreaterThan(0);
});
