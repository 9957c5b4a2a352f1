import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { mentionsSignal } from '../rerank/mentions.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import { listGraphRelations } from '../signals/turn-concepts.ts';
import type { Workspace } from '../signals/workspace.ts';
import { parseArm, poolOfArm } from './arms.fixture.ts';
import { findPool } from './candidate-sources.ts';
import { type Retrieved, retrieve } from './retriever.ts';

const ARM = { search: { bm25: { k: 19 }, newest: { k: 7 } }, fuse: { only: 'bm25' } };
const K = 9;
const describeArm = (rerank: object | null) => parseArm({ ...ARM, rerank });

describe('the best of a query', () => {
  let workspace: Workspace;
  beforeAll(async () => {
    await useBackend('wasm');
    workspace = createSampleWorkspace(drawSampleWorld(3));
  });
  afterAll(() => workspace.dispose());

  /** The places of each query with a candidate, best first. */
  const listOrders = ({ pool, scores }: Retrieved) =>
    Array.from({ length: pool.queryCount }, (_, query) =>
      Array.from({ length: pool.width }, (_, i) => query * pool.width + i)
        .filter((pair) => (pool.positions[pair] as number) >= 0)
        .sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b),
    );

  test.each([
    ['node-distance', listGraphRelations().distance(null)],
    ['mentions', mentionsSignal('candidates')],
  ] as const)('are in the order of their %s, the others where they were', async (method, signal) => {
    const before = listOrders(await retrieve(workspace, describeArm(null)));
    const after = listOrders(await retrieve(workspace, describeArm({ [method]: { k: K } })));
    const column = await workspace.get(signal, await findPool(workspace, null, poolOfArm(describeArm(null))));
    const sortBest = (pairs: number[]) =>
      pairs.slice(0, K).toSorted((a, b) => (column[b] as number) - (column[a] as number));
    expect(after).toEqual(before.map((pairs) => [...sortBest(pairs), ...pairs.slice(K)]));
    const moved = after.filter((pairs, query) => pairs.join() !== before[query]?.join());
    expect(moved.length).toBeGreaterThan(before.length / 4);
    const unweighed = await retrieve(workspace, describeArm({ [method]: { k: K, weight: 0 } }));
    expect(listOrders(unweighed)).toEqual(before);
  });

  test('by a model that is not there are refused', async () => {
    const arm = describeArm({ 'cross-encoder': { model: '/nowhere/pairs' } });
    await expect(retrieve(workspace, arm)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});
