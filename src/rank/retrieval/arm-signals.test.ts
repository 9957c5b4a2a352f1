import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { bm25 } from '../../index/words/bm25.ts';
import type { Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { attentionSignal } from '../signals/attention.ts';
import { bm25Signal } from '../signals/bm25.ts';
import { drawSamplePool, type Formula, findWorstColumnError, scoreEachTurn } from '../signals/columns.harness.ts';
import { createSampleWorkspace, drawSampleWorld, HOUR_MILLISECONDS } from '../signals/corpus.fixture.ts';
import { cosineSignal } from '../signals/cosine.ts';
import { decaySignal } from '../signals/decay.ts';
import { recencySignal } from '../signals/recency.ts';
import {
  computeOracleDistance,
  computeOracleIrcp,
  computeOracleRcp,
  computeOracleTpo,
  computeTurnBm25,
  cosine,
  listVisibleTurns,
} from '../signals/scores.oracle.ts';
import { type AttentionOptions, attentionOptions, trajectoryOptions } from '../signals/signal-options.ts';
import { type CandidatePool, type Column, QUERY_BATCH } from '../signals/stage.ts';
import { trajectorySignal } from '../signals/trajectory.ts';
import type { Workspace } from '../signals/workspace.ts';

/** More queries than one batch holds. */
const world = drawSampleWorld(19, 97, QUERY_BATCH + 7);
const WEIGHTS = { depth: 1, siblingOrder: 0.5, homogeneity: 1.2, temporal: 0.8 };
let workspace: Workspace;
let pool: CandidatePool;
let before = 0;

beforeAll(async () => {
  await useBackend('wasm');
  before = tf.memory().numTensors;
  workspace = createSampleWorkspace(world);
  pool = await drawSamplePool(workspace);
});
afterAll(() => {
  workspace.dispose();
  expect(tf.memory().numTensors).toBe(before);
});

function expectColumn(column: Column, expected: Formula, tolerance: number): void {
  expect(findWorstColumnError(column, expected, { world, workspace, pool })).toBeLessThan(tolerance);
}

test('bm25 is that of the moment', async () => {
  const column = await workspace.get(bm25Signal(bm25.options.parse({ index: 'bm25' })), pool);
  expectColumn(
    column,
    scoreEachTurn((query, turn) => computeTurnBm25(world, query, turn)),
    1e-5,
  );
});

test('cosine', async () => {
  const column = await workspace.get(cosineSignal(null), pool);
  expectColumn(
    column,
    scoreEachTurn((query, turn) => cosine(world, query, turn)),
    1e-6,
  );
});

test('recency is the place in time, 1 for the newest', async () => {
  expectColumn(
    await workspace.get(recencySignal(null), pool),
    (query, turns) => {
      const past = listVisibleTurns(world, query).map(({ id }) => id);
      return turns.map(({ id }) => (past.indexOf(id) + 1) / past.length);
    },
    1e-6,
  );
});

test('decay halves with each half-life', async () => {
  const expected = scoreEachTurn(
    (query, turn) => 2 ** -((query.timestamp - turn.timestamp) / (29 * HOUR_MILLISECONDS)),
  );
  expectColumn(await workspace.get(decaySignal({ halfLifeHours: 29 }), pool), expected, 1e-6);
});

test('trajectory is exp(-D / sigma)', async () => {
  const trajectory = trajectoryOptions.parse({ sigma: 0.3, weights: { complexity: 0 } });
  const expected = scoreEachTurn((query, turn) => Math.exp(-computeOracleDistance(world, query, turn, WEIGHTS) / 0.3));
  expectColumn(await workspace.get(trajectorySignal(trajectory), pool), expected, 1e-5);
});

describe('attention', () => {
  const trajectory = trajectoryOptions.parse({ weights: { complexity: 0 } });
  const attention = attentionOptions.parse({ mechanism: 'rcp' });
  const computeAttentionWith = (options: Partial<AttentionOptions>) =>
    workspace.get(attentionSignal({ attention: { ...attention, ...options }, trajectory }), pool);
  const computeExpectedBack = (query: Query, turns: readonly Turn[]) => computeOracleRcp(world, query, turns);
  const computeExpectedForward = (query: Query, turns: readonly Turn[]) => computeOracleIrcp(world, query, turns);
  const place = (query: Query, turns: readonly Turn[]) => computeOracleTpo(world, query, turns, WEIGHTS);

  test.each([
    ['rcp', 'literal', computeExpectedBack],
    ['rcp', 'directed', computeExpectedBack],
    ['ircp', 'literal', computeExpectedBack],
    ['ircp', 'directed', computeExpectedForward],
    ['tpo', 'directed', place],
  ] as const)('%s, %s', async (mechanism, mode, expected) => {
    expectColumn(await computeAttentionWith({ mechanism, mode }), expected, 1e-5);
  });

  test.each(['literal', 'directed'] as const)('unified, %s, is their mix', async (mode) => {
    const mix = { rcp: 0.5, ircp: 0.3, tpo: 0.2 };
    const other = mode === 'literal' ? computeExpectedBack : computeExpectedForward;
    expectColumn(
      await computeAttentionWith({ mechanism: 'unified', mode, mix }),
      (query, turns) => {
        const parts = [computeExpectedBack, other, place].map((formula) => formula(query, turns)) as [
          number[],
          number[],
          number[],
        ];
        return turns.map((_, i) => 0.5 * parts[0][i]! + 0.3 * parts[1][i]! + 0.2 * parts[2][i]!);
      },
      1e-5,
    );
  });
});

test('a pool with a turn that is not strictly earlier is refused by every signal that knows time', async () => {
  const positions = pool.positions.slice();
  positions[0] = workspace.batch.cutoffs[0] as number;
  const later = { ...pool, positions, stage: { ...pool.stage, key: 'later' } };
  const trajectory = trajectoryOptions.parse({});
  const bm25Column = workspace.get(bm25Signal(bm25.options.parse({ index: 'bm25' })), later);
  await expect(bm25Column).rejects.toThrow(ValidationError);
  const trajectoryColumn = workspace.get(trajectorySignal(trajectory), later);
  await expect(trajectoryColumn).rejects.toThrow('candidate is not earlier than query 0');
});
