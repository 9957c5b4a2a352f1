import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import type { Workspace } from '../signals/workspace.ts';
import { candidatesOfArm, parseArm } from './arms.fixture.ts';
import { rank } from './rank.ts';
import { retrieve } from './retriever.ts';
import { listArmStages, type RankOptions } from './written-steps.ts';

const bm25 = { k: 19 };
const flat = { k: 7 };
const graph = { k: 11 };
const unseeded = { ...graph, seeds: { turns: 0, concepts: false } };

describe('graph as a signal of relevance', () => {
  let workspace: Workspace;
  beforeAll(async () => {
    await useBackend('wasm');
    workspace = createSampleWorkspace(drawSampleWorld(3));
  });
  afterAll(() => workspace.dispose());

  async function rankArm(arm: RankOptions): Promise<number[][]> {
    const { pool, scores } = await retrieve(workspace, arm);
    const { slots, depth } = await rank(pool, scores, pool.width, (query) => `query ${query}`);
    return Array.from({ length: pool.queryCount }, (_, query) =>
      Array.from(slots.subarray(query * depth, (query + 1) * depth))
        .filter((slot) => slot >= 0)
        .map((slot) => pool.positions[query * pool.width + slot] as number),
    );
  }

  test('alone, ranks what its source found by its scores', async () => {
    const arm = parseArm({ search: { graph, flat }, fuse: { only: 'graph' } });
    const found = await workspace.get(candidatesOfArm(arm, 'graph'));
    const ranked = await rankArm(arm);
    for (const [query, positions] of ranked.entries()) {
      const own = [...found.positions.subarray(query * found.width, (query + 1) * found.width)].filter((p) => p >= 0);
      expect(positions.slice(0, own.length)).toEqual(own);
    }
    expect(found.positions.some((position) => position >= 0)).toBe(true);
  });

  test.each([
    { rrf: { flat: 1, bm25: 1, graph: 0.4 } },
    { combmnz: { flat: 1, bm25: 1, graph: 1 } },
    { 'pool-rrf': { flat: 1, bm25: 1, graph: 1 } },
    { convex: { flat: 0.5, bm25: 0.3, graph: 0.2 } },
  ])('affects the ranking of a fusion: %j', async (fuse) => {
    const arm = parseArm({ search: { bm25, flat, graph }, fuse });
    const without = parseArm({ search: { bm25, flat, graph: unseeded }, fuse });
    expect(await rankArm(arm)).not.toEqual(await rankArm(without));
    const stages = listArmStages(workspace.plan, arm).map(({ name }) => name);
    expect(stages).toContain('candidates-graph');
    expect(stages).toContain('list-scores');
  });

  test.each([
    'rrf',
    { rrf: { bm25: 1, graph: 3 } },
    'combsum',
    'isr',
    'bordafuse',
    'pool-rrf',
    'pool-combsum',
    { convex: { bm25: 0.6, graph: 0.4 } },
    { weighted: { bm25: 0.6, graph: 0.4 } },
  ])('where its source finds nothing, the order is the lexical one: %j', async (fuse) => {
    const lexical = await rankArm(parseArm({ search: { bm25 } }));
    expect(await rankArm(parseArm({ search: { bm25, graph: unseeded }, fuse }))).toEqual(lexical);
  });

  test('needs its source', () => {
    expect(() => parseArm({ search: { bm25 }, fuse: { 'pool-rrf': { bm25: 1, graph: 1 } } })).toThrow(
      'fuse.pool-rrf.graph: expected a column of the arm (bm25)',
    );
  });
});
