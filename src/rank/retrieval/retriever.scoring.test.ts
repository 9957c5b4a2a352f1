import { beforeAll, expect, test } from 'vitest';
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
