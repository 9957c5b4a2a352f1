import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { drawSamplePool, findWorstColumnError, scoreEachTurn } from './columns.harness.ts';
import { createSampleWorkspace, drawSampleWorld } from './corpus.fixture.ts';
import { drawRandomParents } from './placed-frames.ts';
import { computeOracleDistance } from './scores.oracle.ts';
import { trajectoryOptions } from './signal-options.ts';
import { trajectorySignal } from './trajectory.ts';
import type { Workspace } from './workspace.ts';
import type { ControlOptions } from './worlds/world-parts.ts';

const buildTurn = (id: string, parentId: string | null, timestamp: number): Turn => ({
  id,
  conversationId: 'c',
  parentId,
  timestamp,
  author: null,
  channel: null,
  text: id,
});

describe('a parent', () => {
  const { turns } = drawSampleWorld(11, 103, 2, 3);
  const corpus = new Corpus(turns);

  test('is an earlier turn of the conversation; roots stay roots', () => {
    const parent = drawRandomParents(corpus, 5);
    expect(parent.map((above) => (above < 0 ? 0 : 1))).toEqual(corpus.parent.map((above) => (above < 0 ? 0 : 1)));
    for (const [position, above] of parent.entries()) {
      if (above < 0) continue;
      expect(corpus.conversationOf[above]).toBe(corpus.conversationOf[position]);
      expect(corpus.timestamps[above]).toBeLessThanOrEqual(corpus.timestamps[position] as number);
      expect(above).not.toBe(position);
    }
    const kept = parent.filter((above, position) => above === corpus.parent[position] && above >= 0).length;
    expect(kept).toBeLessThan(parent.filter((above) => above >= 0).length / 3);
  });

  test('does not depend on what is said later', () => {
    const cut = corpus.countEarlierTurns(corpus.timestamps[71] as number);
    expect(cut).toBeGreaterThan(50);
    const past = new Corpus(corpus.turns.slice(0, cut));
    expect(drawRandomParents(past, 5)).toEqual(drawRandomParents(corpus, 5).subarray(0, cut));
    expect(drawRandomParents(past, 6)).not.toEqual(drawRandomParents(past, 5));
  });

  test('is any of them equally often', () => {
    const chain = new Corpus(['a', 'b', 'c', 'd', 'e'].map((id, i, ids) => buildTurn(id, ids[i - 1] ?? null, i)));
    const draws = 2000;
    const counts = Array.from({ length: 5 }, () => new Float64Array(5));
    for (let seed = 0; seed < draws; seed++)
      for (const [position, above] of drawRandomParents(chain, seed).entries())
        if (above >= 0) counts[position]![above]!++;
    for (const [position, row] of counts.entries())
      for (const [above, count] of row.entries()) {
        const share = above < position ? 1 / position : 0;
        expect(Math.abs(count - draws * share)).toBeLessThanOrEqual(4 * Math.sqrt(draws * share * (1 - share)));
      }
  });

  test('of two turns of one moment the child may stand first', () => {
    const pair = new Corpus([buildTurn('a', 'b', 1), buildTurn('b', null, 1)]);
    expect([...drawRandomParents(pair, 1)]).toEqual([1, -1]);
  });
});

describe('under the control', () => {
  const control: ControlOptions = { kind: 'random-parents', seed: 29 };
  const world = drawSampleWorld(19, 97, 23, 3);
  let workspace: Workspace;
  beforeAll(async () => {
    await useBackend('wasm');
    workspace = createSampleWorkspace(world);
  });
  afterAll(() => workspace.dispose());

  test('distances are those of the forests that were drawn', async () => {
    const pool = await drawSamplePool(workspace);
    const trajectory = trajectoryOptions.parse({ dimensions: 7, weights: { complexity: 0 } });
    const weights = {
      depth: 1,
      siblingOrder: 0.5,
      homogeneity: 1.2,
      temporal: 0.8,
      branchFactor: 0.4,
      childrenCount: 0.4,
    };
    const { corpus } = workspace;
    const parents = drawRandomParents(corpus, 29);
    const findTurnId = (position: number) => corpus.turns[position]?.id ?? null;
    const turns = corpus.turns.map((item, i) => ({ ...item, parentId: findTurnId(parents[i] as number) }));
    const column = await workspace.under(control).get(trajectorySignal(trajectory), pool);
    const expected = scoreEachTurn((query, item) =>
      Math.exp(-computeOracleDistance({ ...world, turns }, query, item, weights)),
    );
    expect(findWorstColumnError(column, expected, { world, workspace, pool })).toBeLessThan(1e-5);
    expect(column).not.toEqual(await workspace.get(trajectorySignal(trajectory), pool));
  });
});
