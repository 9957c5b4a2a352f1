import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import type { Workspace } from '../signals/workspace.ts';
import { candidatesOfArm } from './arms.fixture.ts';
import { listArmStages } from './form.ts';
import { rank } from './rank.ts';
import { retrieve } from './retriever.ts';
import { checkRetrieverOptions, type RetrieverOptions, retrieverOptions } from './retriever-options.ts';

const bm25 = { index: 'bm25', k: 19 };
const flat = { index: 'flat', k: 7 };
const graph = { index: 'graph', k: 11 };
const unseeded = { ...graph, seeds: { turns: 0, concepts: false } };
const describeArm = (candidates: readonly object[], relevance: object): RetrieverOptions =>
  checkRetrieverOptions(retrieverOptions.parse({ candidates, relevance }));

describe('graph as a signal of relevance', () => {
  let workspace: Workspace;
  beforeAll(async () => {
    await useBackend('wasm');
    workspace = createSampleWorkspace(drawSampleWorld(3));
  });
  afterAll(() => workspace.dispose());

  async function rankArm(arm: RetrieverOptions): Promise<number[][]> {
    const { pool, scores } = await retrieve(workspace, arm);
    const { slots, depth } = await rank(pool, scores, pool.width, (query) => `query ${query}`);
    return Array.from({ length: pool.queryCount }, (_, query) =>
      Array.from(slots.subarray(query * depth, (query + 1) * depth))
        .filter((slot) => slot >= 0)
        .map((slot) => pool.positions[query * pool.width + slot] as number),
    );
  }

  test('alone, ranks what its source found by its scores', async () => {
    const arm = describeArm([graph, flat], { signals: ['graph'] });
    const found = await workspace.get(candidatesOfArm(arm, arm.candidates[0] as never));
    const ranked = await rankArm(arm);
    for (const [query, positions] of ranked.entries()) {
      const own = [...found.positions.subarray(query * found.width, (query + 1) * found.width)].filter((p) => p >= 0);
      expect(positions.slice(0, own.length)).toEqual(own);
    }
    expect(found.positions.some((position) => position >= 0)).toBe(true);
  });

  const signals = ['cosine', 'bm25', 'graph'];
  const fusions = [
    { method: 'rrf', weights: { graph: 0.4 } },
    { method: 'combmnz' },
    { method: 'pool-rrf' },
    { method: 'convex', weights: { cosine: 0.5, bm25: 0.3, graph: 0.2 } },
  ];
  test.each(fusions)('affects the ranking of a fusion: $method', async (fusion) => {
    const arm = describeArm([bm25, flat, graph], { signals, fusion });
    const without = describeArm([bm25, flat, { ...graph, seeds: { turns: 0, concepts: false } }], { signals, fusion });
    expect(await rankArm(arm)).not.toEqual(await rankArm(without));
    const stages = listArmStages(workspace.plan, arm).map(({ name }) => name);
    expect(stages).toContain('candidates-graph');
    expect(stages).toContain('list-scores');
  });

  test.each([
    { method: 'rrf' },
    { method: 'rrf', weights: { graph: 3 } },
    { method: 'combsum' },
    { method: 'isr' },
    { method: 'bordafuse' },
    { method: 'pool-rrf' },
    { method: 'pool-combsum' },
    { method: 'convex', weights: { bm25: 0.6, graph: 0.4 } },
    { method: 'weighted', weights: { bm25: 0.6, graph: 0.4 } },
  ])('where its source finds nothing, the order is the lexical one: $method', async (fusion) => {
    const lexical = await rankArm(describeArm([bm25], { signals: ['bm25'] }));
    expect(await rankArm(describeArm([bm25, unseeded], { signals: ['bm25', 'graph'], fusion }))).toEqual(lexical);
  });

  test('needs its source', () => {
    expect(() => describeArm([bm25], { signals: ['bm25', 'graph'], fusion: { method: 'pool-rrf' } })).toThrow(
      'a source with index graph, whose scores are the signal graph',
    );
  });
});
