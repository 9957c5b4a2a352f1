import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { TokenStore } from '../../index/encoders/token-cache.ts';
import { createWordTokens, openWordTokens } from '../../index/encoders/word-tokens.fixture.ts';
import { LateTurns } from '../../index/late/late-turns.ts';
import type { Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { retrieve } from '../retrieval/retriever.ts';
import { Workspace } from '../signals/workspace.ts';

beforeAll(() => useBackend('wasm'));

const TEXTS = 'bread and soup|the train|soup of corn|milk|no bread|wolf and fish|bread soup milk|salt|drum'.split('|');
const turns = TEXTS.map(
  (text, n): Turn => ({
    ...{ id: `t${n}`, conversationId: `c${n % 2}`, parentId: null, timestamp: n, author: null, channel: null, text },
  }),
);
const QUESTIONS = ['bread with soup', 'corn soup', 'the milk, the bread, no soup'];
const queries = QUESTIONS.map(
  (text, n): Query => ({
    ...{ id: `q${n}`, text, timestamp: 7 + n, anchorTurnId: null, author: null, channel: null },
    ...{ split: 'dev', cluster: 'c0' },
  }),
);

const openWorkspace = (openTokens = openWordTokens) =>
  new Workspace({
    ...{ openTokens, corpus: new Corpus(turns), queries, dimension: 1, seed: 1 },
    turnVectors: new Float32Array(turns.length).fill(1),
    queryVectors: new Float32Array(queries.length).fill(1),
  });

/** Positions of each query's turns, best first. */
async function rankTurns(steps: Parameters<typeof retrieve>[1], openTokens = openWordTokens): Promise<number[][]> {
  const workspace = openWorkspace(openTokens);
  const { pool, scores } = await retrieve(workspace, steps);
  workspace.dispose();
  return queries.map((_, q) => {
    const slots = Array.from({ length: pool.width }, (_, slot) => q * pool.width + slot);
    const filled = slots.filter((slot) => (pool.positions[slot] as number) >= 0);
    return filled.sort((a, b) => scores[b]! - scores[a]!).map((slot) => pool.positions[slot] as number);
  });
}

const words = { search: { bm25: { k: 9 } } } as const;

test.each(['context', 'plain'] as const)(
  'the best k follow their late interaction over themselves: %s',
  async (view) => {
    const k = 3;
    const before = await rankTurns([words]);
    const after = await rankTurns([words, { rerank: { late: { k, view } } }]);
    for (const [q, order] of before.entries()) {
      expect(order.length).toBeGreaterThan(k - 1);
      const best = order.slice(0, k);
      const scored = new Map<number, number>();
      const late = new LateTurns(new Corpus(turns), await openWordTokens(), { view, author: true });
      const visible = [Int32Array.from(best).sort()];
      await late.score({ texts: [QUESTIONS[q] as string], cutoffs: Int32Array.of(9), visible }, (_, scores) => {
        for (const [i, score] of scores.get('zidf').entries()) scored.set(scores.visible[i] as number, score);
      });
      const expected = best.toSorted((a, b) => (scored.get(b) as number) - (scored.get(a) as number));
      expect(after[q]).toEqual([...expected, ...order.slice(k)]);
    }
    expect(after).not.toEqual(before);
  },
);

test('no token of a turn below the k is computed, and none for a weight of the old order alone changes it', async () => {
  const { source, seen } = createWordTokens();
  const before = await rankTurns([words]);
  const after = await rankTurns([words, { rerank: { late: { k: 2, view: 'plain', weight: 0 } } }], () =>
    TokenStore.open(source, null),
  );
  expect(after).toEqual(before);
  const best = new Set(before.flatMap((order) => order.slice(0, 2)));
  for (const [position, text] of TEXTS.entries()) expect(seen.includes(text), text).toBe(best.has(position));
});

test('without tokens the reranking says what is missing', async () => {
  const { openTokens: _, ...inputs } = { openTokens: null, corpus: new Corpus(turns), queries, dimension: 1, seed: 1 };
  const workspace = new Workspace({ ...inputs, turnVectors: new Float32Array(9), queryVectors: new Float32Array(3) });
  await expect(retrieve(workspace, [words, { rerank: 'late' }])).rejects.toThrow('open it with the input openTokens');
  workspace.dispose();
});
