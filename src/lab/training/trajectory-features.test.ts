import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { listTrajectorySignals, TURNS_AHEAD } from '../../rank/learning/model.ts';
import type { SignalTable } from '../../rank/signals/bank/signal-bank.ts';
import { drawSamplePool, listCandidateTurns } from '../../rank/signals/columns.harness.ts';
import { createSampleWorkspace, drawSampleWorld, HOUR_MILLISECONDS } from '../../rank/signals/corpus.fixture.ts';
import { buildVisibleThread, cosine } from '../../rank/signals/scores.oracle.ts';
import type { CandidatePool } from '../../rank/signals/stage.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import { withTrajectorySignals } from './trajectory-features.ts';

const SCORES = ['bm25', 'cosine'] as const;
const AROUND = ['', '@previous', '@next', '@session-best'] as const;
const SIGNALS = SCORES.flatMap((score) => [...AROUND, '@share'].map((suffix) => `${score}${suffix}`));

const world = drawSampleWorld(31, 97, 23, 5);
let workspace: Workspace;
let pool: CandidatePool;
let bank: SignalTable;
let table: SignalTable;
/** The best score of any turn for each query, a candidate or not. */
let best: Record<string, number[]>;
const readTableValue = (name: string, pair: number, of = table) =>
  of.values[pair * of.signals.length + of.signals.indexOf(name)]!;

/** Scores drawn at random, half of the candidates' own being 0, each with its share of a best one that need not be a candidate's. */
function drawScoreTable(): SignalTable {
  const stream = createRandom(43, 'scores');
  best = Object.fromEntries(SCORES.map((score) => [score, world.queries.map(() => 2 + stream.uniform())]));
  const values = new Float32Array(pool.positions.length * SIGNALS.length);
  for (const [pair, position] of pool.positions.entries()) {
    if (position < 0) continue;
    for (const score of SCORES) {
      const place = pair * SIGNALS.length + SIGNALS.indexOf(score);
      const most = best[score]![Math.floor(pair / pool.width)]!;
      for (let i = 0; i < AROUND.length; i++) values[place + i] = stream.uniform() < 0.5 ? 0 : 2 * stream.uniform();
      values[place + AROUND.length] = values[place]! / most;
    }
  }
  return { signals: SIGNALS, values };
}

beforeAll(async () => {
  await useBackend('wasm');
  workspace = createSampleWorkspace(world);
  pool = await drawSamplePool(workspace);
  bank = drawScoreTable();
  table = await withTrajectorySignals(workspace, pool, bank, 5);
});
afterAll(() => workspace.dispose());

test('nothing that was there is changed, and the model’s inputs are there', () => {
  expect(table.signals.slice(0, SIGNALS.length)).toEqual(SIGNALS);
  for (const name of listTrajectorySignals(5)) expect(table.signals).toContain(name);
  for (let pair = 0; pair < pool.positions.length; pair++)
    for (const name of SIGNALS) expect(readTableValue(name, pair)).toBe(readTableValue(name, pair, bank));
});

test('relevance is a share of the query’s best score, also of the turns beside a candidate without a score of its own', () => {
  let withoutOwn = 0;
  for (const [pair, position] of pool.positions.entries()) {
    const query = Math.floor(pair / pool.width);
    const row = [...pool.positions.keys()].filter((other) => Math.floor(other / pool.width) === query);
    const computeExpectedShare = (suffixes: readonly string[]) => {
      let sum = 0;
      for (const score of SCORES) {
        // Where no candidate of the query has a share, nothing tells the best score.
        const isKnown = row.some((other) => pool.positions[other]! >= 0 && readTableValue(score, other) > 0);
        const most = Math.max(...suffixes.map((suffix) => readTableValue(`${score}${suffix}`, pair)));
        if (isKnown && position >= 0) sum += most / best[score]![query]! / 2;
      }
      return sum;
    };
    expect(readTableValue('relevance', pair)).toBeCloseTo(computeExpectedShare(['']), 5);
    expect(readTableValue('relevance@neighbour', pair)).toBeCloseTo(computeExpectedShare(['@previous', '@next']), 5);
    expect(readTableValue('relevance@session', pair)).toBeCloseTo(computeExpectedShare(['@session-best']), 5);
    if (readTableValue('relevance', pair) === 0 && readTableValue('relevance@neighbour', pair) > 0) withoutOwn++;
  }
  expect(withoutOwn).toBeGreaterThan(11);
});

test('a candidate looks at the turns of its conversation that follow before the query', () => {
  let looked = 0;
  for (const [q, query] of world.queries.entries())
    for (const [c, turn] of listCandidateTurns(workspace, pool, q).entries()) {
      const pair = q * pool.width + c;
      const { turns } = buildVisibleThread(world, query, turn);
      const after = turns.slice(turns.findIndex(({ id }) => id === turn.id) + 1);
      expect(readTableValue('ahead.count', pair)).toBe(after.length);
      expect(readTableValue('age.hours', pair)).toBeCloseTo((query.timestamp - turn.timestamp) / HOUR_MILLISECONDS, 3);
      for (let k = 1; k <= TURNS_AHEAD; k++) {
        const next = after[k - 1];
        expect(readTableValue(`ahead.${k}`, pair)).toBeCloseTo(next === undefined ? 0 : cosine(world, turn, next), 5);
        looked += next === undefined ? 0 : 1;
      }
    }
  expect(looked).toBeGreaterThan(101);
});

describe('a bank without the scores of texts', () => {
  test('is refused by the signal that it lacks', async () => {
    const time: SignalTable = { signals: ['age'], values: new Float32Array(pool.positions.length) };
    const refused = withTrajectorySignals(workspace, pool, time, 5);
    await expect(refused).rejects.toThrow(ValidationError);
    await expect(refused).rejects.toThrow(/a missing signal of group text: (bm25|cosine); add the group text/);
  });
});
