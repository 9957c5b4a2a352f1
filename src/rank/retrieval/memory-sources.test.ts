import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import { MEMORY_IDS, memoryCorpus, memoryVectors } from '../../index/memories/memories.fixture.ts';
import type { Query } from '../../model/dataset.ts';
import { Workspace } from '../signals/workspace.ts';
import { candidatesOfArm, parseArm } from './arms.fixture.ts';
import { retrieve, warmUp } from './retriever.ts';

const QUERIES: readonly Query[] = [
  'How do I handle rush orders?',
  'What did acme and kai order?',
  'What happened on January 3 1970?',
].map((text, i) => ({
  ...{ id: `q${i}`, text, timestamp: 100 * 24 * 3_600_000, anchorTurnId: null, author: null, channel: null },
  ...{ split: 'test', cluster: 's', attributes: { userId: 'u1' } },
}));

const byStrategy = { score: { strategy: {} }, fuse: { only: 'strategy' } };

describe('the sources of memories of an arm', () => {
  let workspace: Workspace;
  beforeAll(async () => {
    await useBackend('wasm');
    const first = viewRow(memoryVectors, 2, 0);
    workspace = new Workspace({
      ...{ corpus: memoryCorpus, queries: QUERIES, turnVectors: memoryVectors, dimension: 2, seed: 1 },
      queryVectors: Float32Array.from(QUERIES.flatMap(() => [...first])),
    });
  });
  afterAll(() => workspace.dispose());

  const find = async (search: object) => {
    const { positions, width } = await workspace.get(candidatesOfArm(parseArm({ search, ...byStrategy })));
    return QUERIES.map((_, query) =>
      [...positions.subarray(query * width, (query + 1) * width)].flatMap((at) => (at < 0 ? [] : [MEMORY_IDS[at]])),
    );
  };

  test('find what each question asks for', async () => {
    expect(await find({ procedural: {} })).toEqual([['rush', 'returns'], [], []]);
    expect((await find({ entities: {} }))[1]).toEqual(['visit', 'fact', 'call']);
    expect((await find({ time: {} }))[2]).toEqual(['fact']);
    expect((await find({ summaries: {} }))[0]).toEqual(['both', 'global']);
  });

  test('have a filter each, besides that of the arm', async () => {
    const search = { summaries: { filter: 'userId = $query.userId' } };
    expect((await find(search))[0]).toEqual(['global']);
    const arm = parseArm({ filter: 'timestamp < 0', search, ...byStrategy });
    const { positions } = await workspace.get(candidatesOfArm(arm));
    expect([...positions].every((position) => position < 0)).toBe(true);
  });

  test('are one pool, whose ranking is that of the strategy', async () => {
    const search = { semantic: {}, entities: {}, time: {}, procedural: {}, summaries: {} };
    const arm = parseArm({ search, ...byStrategy });
    await warmUp(workspace, arm);
    const { pool, scores } = await retrieve(workspace, arm);
    const first = pool.positions.subarray(0, pool.width);
    const best = [...first.keys()].reduce((a, b) => ((scores[b] as number) > (scores[a] as number) ? b : a));
    const pooled = [...first].flatMap((position) => (position < 0 ? [] : [MEMORY_IDS[position] as string]));
    expect(pooled.sort()).toEqual(['both', 'fact', 'global', 'returns', 'rush', 'session', 'visit']);
    expect(MEMORY_IDS[first[best] as number]).toBe('fact');
  });
});
