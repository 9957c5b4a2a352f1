import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../../core/numbers/random.ts';
import { useBackend } from '../../../core/tensors/backend.ts';
import type { Query } from '../../../model/dataset.ts';
import { Corpus } from '../../../model/turns/corpus.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import { openFrames, readField } from '../../../ops/trajectory/frame-tables.ts';
import { drawSamplePool, findWorstColumnError, scoreEachTurn } from '../columns.harness.ts';
import { createSampleWorkspace, drawSampleWorld } from '../corpus.fixture.ts';
import { buildVisibleThread, computeOracleDistance } from '../scores.oracle.ts';
import { trajectoryOptions } from '../signal-options.ts';
import type { CandidatePool } from '../stage.ts';
import { trajectorySignal } from '../trajectory.ts';
import { prepareFrameSources } from '../trajectory-score.ts';
import type { Workspace } from '../workspace.ts';
import { drawRewiredTrees, rewire } from './rewired-graph.ts';
import type { ControlOptions } from './world-parts.ts';

const countChildren = (parent: ArrayLike<number>) =>
  Array.from(parent, (_, turn) => Array.from(parent).filter((above) => above === turn).length);
const numberInTime = (count: number) => Int32Array.from({ length: count }, (_, i) => i);

/** Every forest with the same roots and numbers of children in which no child is before its parent. */
function listForestsLike(parent: readonly number[]): number[][] {
  const wanted = countChildren(parent);
  const extend = (drawn: number[]): number[][] => {
    const turn = drawn.length;
    if (turn === parent.length) return countChildren(drawn).every((count, i) => count === wanted[i]) ? [drawn] : [];
    const choices = (parent[turn] as number) < 0 ? [-1] : Array.from({ length: turn }, (_, i) => i);
    return choices.flatMap((above) => extend([...drawn, above]));
  };
  return extend([]);
}

describe('rewiring', () => {
  test('draws each of the forests of the same degrees equally often', () => {
    const parent = [-1, 0, 0, -1, 1, 3, 1];
    const forests = listForestsLike(parent).map((forest) => forest.join());
    expect(forests).toHaveLength(9);
    const draws = 300 * forests.length;
    const counts = new Map(forests.map((forest) => [forest, 0]));
    const source = createRandom(7, 'rewired-graph.test');
    for (let draw = 0; draw < draws; draw++) {
      const forest = rewire(Int32Array.from(parent), numberInTime(7), source).join();
      expect(counts.has(forest)).toBe(true);
      counts.set(forest, (counts.get(forest) as number) + 1);
    }
    for (const count of counts.values()) expect(Math.abs(count - 300)).toBeLessThan(4 * Math.sqrt(300));
  });

  test('keeps roots and numbers of children, and parents before their children in the order that is given', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 1, maxLength: 41 }), fc.nat(), (picks, seed) => {
        const source = createRandom(seed, 'rewired-graph.test');
        const order = source.shuffle([...picks.keys()]);
        const parent = new Int32Array(picks.length).fill(-1);
        for (const [turn, pick] of picks.entries())
          if (turn > 0 && pick % 7 > 0) parent[order[turn] as number] = order[pick % turn] as number;
        const rewired = rewire(parent, Int32Array.from(order), source);
        expect(countChildren(rewired)).toEqual(countChildren(parent));
        expect(rewired.map((above) => Math.min(above, 0))).toEqual(parent.map((above) => Math.min(above, 0)));
        for (const [turn, above] of rewired.entries())
          expect(above < 0 || order.indexOf(above) < order.indexOf(turn)).toBe(true);
      }),
    );
  });
});

test('conversations of one shape are each drawn by themselves', () => {
  const TURNS = 23;
  const turns = Array.from({ length: 7 * TURNS }, (_, i): Turn => {
    const [conversation, turn] = [i % 7, Math.floor(i / 7)];
    const parentId = turn === 0 ? null : `${conversation}-${Math.floor((turn - 1) / 2)}`;
    const rest = { author: null, channel: null, text: 'x' };
    return { id: `${conversation}-${turn}`, conversationId: `c${conversation}`, parentId, timestamp: i, ...rest };
  });
  const corpus = new Corpus(turns);
  const frames = openFrames(corpus, new Float32Array(turns.length).fill(1), new Int32Array(turns.length).fill(1));
  const trees = drawRewiredTrees(frames, 29);
  /** The parents of a conversation's turns, by their places in it. */
  const listForestParents = (conversation: number) => {
    const tree = trees(conversation, TURNS);
    return Array.from({ length: TURNS }, (_, turn) => readField(tree, 'parent', turn)).join();
  };
  expect(new Set(Array.from({ length: 7 }, (_, conversation) => listForestParents(conversation))).size).toBe(7);
});

describe('under the control', () => {
  const control: ControlOptions = { kind: 'rewired-graph', seed: 29 };
  const world = drawSampleWorld(19, 97, 23, 3);
  let workspace: Workspace;
  let pool: CandidatePool;
  beforeAll(async () => {
    await useBackend('wasm');
    workspace = createSampleWorkspace(world);
    pool = await drawSamplePool(workspace);
  });
  afterAll(() => workspace.dispose());

  /** The thread of a turn as of the query's moment, with the parents drawn for that moment. */
  async function createRewiredThreads(): Promise<(query: Query, turn: Turn) => Turn[]> {
    const trees = drawRewiredTrees((await prepareFrameSources(workspace)).frames, 29);
    const { corpus } = workspace;
    return (query, turn) => {
      const { turns } = buildVisibleThread(world, query, turn);
      const conversation = corpus.conversations.findIndex(({ id }) => id === turn.conversationId);
      const tree = trees(conversation, turns.length);
      return turns.map((item) => {
        const above = readField(tree, 'parent', corpus.ringPosition[corpus.getPosition(item.id)]!);
        return { ...item, parentId: turns[above]?.id ?? null };
      });
    };
  }

  test('at every moment each turn has as many children as it has, of its own conversation and not before it', async () => {
    const threads = await createRewiredThreads();
    let moved = 0;
    for (const query of world.queries)
      for (const conversationId of ['c0', 'c1', 'c2']) {
        const some = world.turns.find(
          (turn) => turn.conversationId === conversationId && turn.timestamp < query.timestamp,
        );
        if (some === undefined) continue;
        const before = buildVisibleThread(world, query, some).turns;
        const after = threads(query, some);
        const count = (turns: readonly Turn[], id: string) => turns.filter(({ parentId }) => parentId === id).length;
        for (const [i, { id, parentId, timestamp }] of after.entries()) {
          expect(count(after, id)).toBe(count(before, id));
          const parent = after.find((other) => other.id === parentId);
          expect(parentId === null).toBe(before[i]?.parentId === null);
          if (parentId !== null) expect(parent?.timestamp).toBeLessThanOrEqual(timestamp);
          moved += parentId === before[i]?.parentId ? 0 : 1;
        }
      }
    expect(moved).toBeGreaterThan(300);
  });

  test.each([5, 7] as const)(
    'distances in %i dimensions are those of the forests that were drawn',
    async (dimensions) => {
      const threads = await createRewiredThreads();
      const five = { depth: 1, siblingOrder: 0.5, homogeneity: 1.2, temporal: 0.8 };
      const weights = dimensions === 5 ? five : { ...five, branchFactor: 0.4, childrenCount: 0.4 };
      const trajectory = trajectoryOptions.parse({ dimensions, weights: { complexity: 0 } });
      const column = await workspace.under(control).get(trajectorySignal(trajectory), pool);
      const expected = scoreEachTurn((query, turn) =>
        Math.exp(-computeOracleDistance({ ...world, turns: threads(query, turn) }, query, turn, weights)),
      );
      expect(findWorstColumnError(column, expected, { world, workspace, pool })).toBeLessThan(1e-5);
      expect(column).not.toEqual(await workspace.get(trajectorySignal(trajectory), pool));
    },
  );

  test('distances of the numbers of children alone do not change', async () => {
    const weights = {
      depth: 0,
      siblingOrder: 0,
      homogeneity: 0,
      temporal: 1,
      complexity: 1,
      branchFactor: 0,
      childrenCount: 1,
    };
    const trajectory = trajectoryOptions.parse({ dimensions: 7, weights });
    const computeRewiredColumn = (under: ControlOptions | null) =>
      workspace.under(under).get(trajectorySignal(trajectory), pool);
    expect(await computeRewiredColumn(control)).toEqual(await computeRewiredColumn(null));
    expect(await computeRewiredColumn({ ...control, kind: 'random-parents' })).not.toEqual(
      await computeRewiredColumn(null),
    );
  });
});
