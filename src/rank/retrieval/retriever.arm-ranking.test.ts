import { expect, test } from 'vitest';
import { NotFiniteError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import { sampleRanking as arm, rankedCorpus as corpus, rankedQueries as queries } from './ranked-arm.fixture.ts';
import { buildRun, listRankedComponents, listRankedPositions, rankArm } from './retriever.ts';
import { parseSteps } from './written-steps.ts';

test('places of the pool become positions of the corpus with their scores', () => {
  expect(listRankedPositions(arm)).toEqual({
    depth: 2,
    positions: Int32Array.of(2, 1, 3, -1),
    scores: Float32Array.of(0.75, 0.5, -2, 0),
  });
});

test('the parts of the first ranks stand place by place, nothing where there is no candidate', () => {
  const componentNames = ['hnsw', 'decay'];
  const all = Float32Array.of(17, 31, 13, 29, 19, 37, 0, 0);
  expect(listRankedComponents(arm, 7)).toEqual({ componentNames, components: all, inspected: 2 });
  const first = Float32Array.of(17, 31, 19, 37);
  expect(listRankedComponents(arm, 1)).toEqual({ componentNames, components: first, inspected: 1 });
});

test('rankings have ids', () => {
  expect([...buildRun(corpus, queries, listRankedPositions(arm))]).toEqual([
    [
      'q0',
      [
        { id: 'c', score: 0.75 },
        { id: 'b', score: 0.5 },
      ],
    ],
    ['q1', [{ id: 'd', score: -2 }]],
  ]);
});

test('a score that is no number is reported with the arm, the query and the turn', async () => {
  await useBackend('wasm');
  const world = drawSampleWorld(7, 53, 5, 3);
  const workspace = createSampleWorkspace(world);
  const options = parseSteps([{ search: { bm25: { k: 11, variant: 'bm25l', k1: 1.7e308 } } }]);
  try {
    const error = await rankArm(workspace, { ...options, name: 'too much' }, 5).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(NotFiniteError);
    expect((error as Error).message).toMatch(/at arm too much, query q\d+, turn (é|t)\d+: (NaN|Infinity); /);
  } finally {
    workspace.dispose();
  }
});
