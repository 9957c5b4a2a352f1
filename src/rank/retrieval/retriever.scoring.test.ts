import { beforeAll, expect, test } from 'vitest';
import { computeHash } from '../../core/hash/hash.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { createSampleWorkspace, drawSampleWorld, HOUR_MILLISECONDS } from '../signals/corpus.fixture.ts';
import { listVisibleTurns } from '../signals/scores.oracle.ts';
import { parseArm } from './arms.fixture.ts';
import { retrieve } from './retriever.ts';

beforeAll(() => useBackend('wasm'));
const world = drawSampleWorld(3, 61, 7, 3);
const search = { newest: { k: 13 } };

test('the score of a mix is the sum of weight times signal, and there is no relevance beside it', async () => {
  const workspace = createSampleWorkspace(world);
  const weights = { 'decay.6h': 2, newest: -0.7, root: 0.3, 'thread.size': 0.11 };
  const mix = { signals: { groups: ['time', 'thread'] }, weights };
  const { pool, scores, components } = await retrieve(workspace, parseArm({ search, mix }));
  expect([...components.keys()]).toEqual(['scoring']);
  expect(components.get('scoring')).toBe(scores);
  let candidates = 0;
  for (const [pair, position] of pool.positions.entries()) {
    const query = world.queries[Math.floor(pair / pool.width)] as (typeof world.queries)[number];
    const turn = workspace.corpus.turns[position];
    if (turn === undefined) {
      expect(scores[pair]).toBe(0);
      continue;
    }
    candidates++;
    const past = listVisibleTurns(world, query);
    const thread = past.filter(({ conversationId }) => conversationId === turn.conversationId);
    const expected =
      2 * 0.5 ** ((query.timestamp - turn.timestamp) / HOUR_MILLISECONDS / 6) -
      0.7 / (past.length - past.indexOf(turn)) +
      (turn.parentId === null ? 0.3 : 0) +
      0.11 * Math.log(thread.length);
    expect(scores[pair]).toBeCloseTo(expected, 5);
  }
  workspace.dispose();
  expect(candidates).toBeGreaterThan(31);
});

test('a selection reorders what a mix has scored', async () => {
  const workspace = createSampleWorkspace(world);
  const mix = { signals: { groups: ['time'] }, weights: { newest: 1 } };
  const select = { mmr: { k: 5, lambda: 0.3 } };
  const { scores, components } = await retrieve(workspace, parseArm({ search, mix, select }));
  workspace.dispose();
  expect(components.get('before selection')).toBe(components.get('scoring'));
  expect(scores).not.toEqual(components.get('scoring'));
});

test.each([
  ['convex', { bm25: 0.31, flat: 0.17, newest: 'rest' }],
  ['weighted', { bm25: 0.31, flat: 0.17, newest: 'rest' }],
  ['pool-rrf', { bm25: 0.3, flat: 0.7, newest: 0.1 }],
  ['wsum', { bm25: 0.3, flat: 0.7, newest: 0.1 }],
] as const)(
  'arms of equal hash have equal scores, whatever the order in which %s names three columns',
  async (method, weights) => {
    const workspace = createSampleWorkspace(drawSampleWorld(7, 211, 23, 3));
    const search = { bm25: { k: 31 }, flat: { k: 31 }, newest: { k: 31 } };
    const names = Object.keys(weights) as (keyof typeof weights)[];
    const orders = [names, names.toReversed(), [names[1]!, names[2]!, names[0]!]];
    const arms = orders.map((order) =>
      parseArm({ search, fuse: { [method]: Object.fromEntries(order.map((name) => [name, weights[name]])) } }),
    );
    expect(new Set(arms.map((arm) => computeHash(arm))).size).toBe(1);
    const [first, ...others] = await Promise.all(arms.map(async (arm) => (await retrieve(workspace, arm)).scores));
    workspace.dispose();
    for (const scores of others) expect(Buffer.from(scores.buffer).equals(Buffer.from(first!.buffer))).toBe(true);
  },
);
