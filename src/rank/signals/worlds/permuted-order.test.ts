import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../../core/tensors/backend.ts';
import { buildConversationTurns } from '../../../model/turns/conversations.fixture.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import { PROPAGATION_PRESETS } from '../../../ops/attention/options.ts';
import { attentionSignal } from '../attention.ts';
import { drawSamplePool, findWorstColumnError, scoreEachTurn } from '../columns.harness.ts';
import { createSampleWorkspace, drawSampleWorld, type SampleWorld } from '../corpus.fixture.ts';
import { cosineSignal, propagatedRows } from '../cosine.ts';
import { computeOracleIrcp, computeOracleRcp, computePropagatedCosine, PROPAGATION } from '../scores.oracle.ts';
import { type AttentionOptions, attentionOptions } from '../signal-options.ts';
import type { CandidatePool } from '../stage.ts';
import type { Workspace } from '../workspace.ts';
import { drawPermutedOrder } from './permuted-order.ts';
import type { ControlOptions } from './world-parts.ts';

describe('an order', () => {
  const lengths = [1, 2, 19, 5];
  const corpus = buildConversationTurns(lengths);

  test('has every turn that is there once, at the place where it says', () => {
    const order = drawPermutedOrder(corpus, 3);
    for (const [conversation, length] of lengths.entries())
      for (let size = 1; size <= length; size++) {
        const { ringPositionOf: placeOf, turnAt } = order(conversation, size);
        expect(turnAt.toSorted()).toEqual(Int32Array.from({ length: size }, (_, i) => i));
        expect(Array.from(placeOf, (place) => turnAt[place])).toEqual(Array.from(placeOf.keys()));
      }
  });

  test('keeps the order of those who were there, whoever comes', () => {
    const order = drawPermutedOrder(corpus, 3);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 19 }), fc.integer({ min: 1, max: 19 }), (a, b) => {
        const early = order(2, Math.min(a, b)).turnAt;
        const late = order(2, Math.max(a, b)).turnAt;
        expect(late.filter((turn) => turn < early.length)).toEqual(early);
      }),
    );
  });

  test('of some turns does not depend on those to come, nor on other conversations', () => {
    const others = drawPermutedOrder(buildConversationTurns([31, 2, 11, 5, 7]), 3);
    const order = drawPermutedOrder(corpus, 3);
    for (let size = 1; size <= 11; size++) expect(others(2, size)).toEqual(order(2, size));
    expect(order(2, 19)).not.toEqual(drawPermutedOrder(corpus, 4)(2, 19));
    expect(order(2, 5)).not.toEqual(order(3, 5));
  });

  test('is any of the six of three turns in a sixth of the cases', () => {
    const three = buildConversationTurns([3]);
    const counts = new Map<string, number>();
    const draws = 3000;
    for (let seed = 0; seed < draws; seed++) {
      const order = drawPermutedOrder(three, seed)(0, 3).turnAt.join();
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    expect(counts.size).toBe(6);
    const deviation = Math.sqrt(draws * (1 / 6) * (5 / 6));
    for (const count of counts.values()) expect(Math.abs(count - draws / 6)).toBeLessThan(4 * deviation);
  });
});

describe('under the control', () => {
  const control: ControlOptions = { kind: 'permuted-order', seed: 29 };
  const world = drawSampleWorld(19, 97, 23);
  let workspace: Workspace;
  let pool: CandidatePool;
  let permuted: SampleWorld;
  beforeAll(async () => {
    await useBackend('wasm');
    workspace = createSampleWorkspace(world);
    pool = await drawSamplePool(workspace);
    const drawn = drawPermutedOrder(workspace.corpus, 29);
    const order = (turns: readonly Turn[]) => {
      const conversation = workspace.corpus.conversations.findIndex(({ id }) => id === turns[0]?.conversationId);
      return Array.from(drawn(conversation, turns.length).turnAt, (turn) => turns[turn] as Turn);
    };
    permuted = { ...world, order };
  });
  afterAll(() => workspace.dispose());

  const attention = attentionOptions.parse({ mechanism: 'rcp' });

  test.each([
    ['rcp', computeOracleRcp],
    ['ircp', computeOracleIrcp],
  ] as const)('%s is that of turns in the other order', async (mechanism, formula) => {
    const options = { ...attention, mechanism };
    const column = await workspace.under(control).get(attentionSignal({ attention: options, trajectory: null }), pool);
    const worst = findWorstColumnError(column, (query, turns) => formula(permuted, query, turns), {
      world,
      workspace,
      pool,
    });
    expect(worst).toBeLessThan(1e-5);
    expect(column).not.toEqual(await workspace.get(attentionSignal({ attention: options, trajectory: null }), pool));
  });

  test('looks as far as the band of a long conversation goes, both ways round', async () => {
    const long = drawSampleWorld(5, 211, 7, 1);
    const own = createSampleWorkspace(long);
    const rows = await drawSamplePool(own);
    const drawn = drawPermutedOrder(own.corpus, 29);
    const order = (turns: readonly Turn[]) => Array.from(drawn(0, turns.length).turnAt, (turn) => turns[turn] as Turn);
    const options: AttentionOptions = { ...attention, mechanism: 'ircp' };
    const column = await own.under(control).get(attentionSignal({ attention: options, trajectory: null }), rows);
    own.dispose();
    const computeExpectedOrder = (query: SampleWorld['queries'][number], turns: readonly Turn[]) =>
      computeOracleIrcp({ ...long, order }, query, turns);
    expect(
      findWorstColumnError(column, computeExpectedOrder, { world: long, workspace: own, pool: rows }),
    ).toBeLessThan(1e-5);
  });

  test.each(['published', 'framework'] as const)(
    '%s propagation mixes a turn with its new neighbours',
    async (preset) => {
      const column = await workspace.under(control).get(cosineSignal(PROPAGATION_PRESETS[preset]), pool);
      const expected = scoreEachTurn((query, turn) =>
        computePropagatedCosine(permuted, query, turn, PROPAGATION[preset]),
      );
      expect(findWorstColumnError(column, expected, { world, workspace, pool })).toBeLessThan(1e-4);
    },
  );

  test.each(['causal', 'anticausal'] as const)('a line that is %s has no version that lasts', async (direction) => {
    const options = { ...PROPAGATION_PRESETS.framework, topology: 'line', direction } as const;
    const { positions, validFrom, validTo } = await workspace.under(control).get(propagatedRows(options));
    for (const cutoff of workspace.batch.cutoffs) {
      const valid = [...positions.keys()].filter(
        (row) => (validFrom[row] as number) <= cutoff && cutoff < (validTo[row] as number),
      );
      expect(new Set(valid.map((row) => positions[row])).size).toBe(cutoff);
      expect(valid).toHaveLength(cutoff);
    }
    expect(positions.length).toBeGreaterThan(world.turns.length);
  });

  test('what does not look at the order is left as it is', async () => {
    const tpo: AttentionOptions = { ...attention, mechanism: 'tpo' };
    const plain = await workspace.get(attentionSignal({ attention: tpo, trajectory: null }), pool);
    expect(await workspace.under(control).get(attentionSignal({ attention: tpo, trajectory: null }), pool)).toBe(plain);
    expect(await workspace.under(control).get(cosineSignal(null), pool)).toBe(
      await workspace.get(cosineSignal(null), pool),
    );
  });
});
