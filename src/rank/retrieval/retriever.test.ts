import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RagPlusPlusError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import type { Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { createSampleWorkspace, drawSampleWorld, HOUR_MILLISECONDS } from '../signals/corpus.fixture.ts';
import { MEMORY_SIGNALS } from '../signals/memory-signals.ts';
import {
  computeOracleDistance,
  computeOracleIrcp,
  computeOracleRcp,
  computeOracleTpo,
  computePropagatedCosine,
  computeTurnBm25,
  cosine,
  PROPAGATION,
} from '../signals/scores.oracle.ts';
import type { Workspace } from '../signals/workspace.ts';
import { SAMPLE_ARMS, type SampleArm } from './arms.fixture.ts';
import { type Retrieved, retrieve } from './retriever.ts';
import { type RetrieverOptions, retrieverOptions } from './retriever-options.ts';

const world = drawSampleWorld(7);
let workspace: Workspace;
let tensors = 0;
beforeAll(async () => {
  await useBackend('wasm');
  tensors = tf.memory().numTensors;
  workspace = createSampleWorkspace(world);
});
afterAll(() => {
  workspace.dispose();
  expect(tf.memory().numTensors).toBe(tensors);
});

/** A query's candidates and what an arm makes of them, without padding. */
interface Row {
  readonly query: Query;
  readonly turns: readonly Turn[];
  readonly scores: readonly number[];
  readonly parts: Readonly<Record<string, readonly number[]>>;
}

function listRetrievedRows({ pool, scores, components }: Retrieved): Row[] {
  return world.queries.map((query, q) => {
    const row = Array.from(pool.positions.subarray(q * pool.width, (q + 1) * pool.width));
    const pairs = row.flatMap((position, place) => (position < 0 ? [] : [q * pool.width + place]));
    const pickPairs = (column: Float32Array) => pairs.map((pair) => column[pair] as number);
    return {
      query,
      turns: pairs.map((pair) => workspace.corpus.turns[pool.positions[pair] as number] as Turn),
      scores: pickPairs(scores),
      parts: Object.fromEntries([...components].map(([name, column]) => [name, pickPairs(column)])),
    };
  });
}

function expectClose(got: readonly number[], expected: readonly number[], tolerance: number, what: string): void {
  expect(got).toHaveLength(expected.length);
  for (const [i, value] of expected.entries())
    expect(Math.abs((got[i] as number) - value), `${what}, place ${i}: ${got[i]} for ${value}`).toBeLessThan(tolerance);
}

const scaleByMaximum = (values: readonly number[]) => values.map((value) => value / (Math.max(...values) || 1));
const mixScores = (base: readonly number[], other: readonly number[], weight: number) =>
  base.map((value, i) => (1 - weight) * value + weight * (other[i] as number));

/** What the relevance is to be, from the signals. */
function computeExpectedRelevance(
  { parts }: Row,
  { relevance: { signals, fusion } }: RetrieverOptions,
): readonly number[] | null {
  const semantic = parts.cosine?.map((value) => (1 + value) / 2) as number[];
  const lexical = parts.bm25 as number[];
  if (signals.length === 1) return signals[0] === 'cosine' ? semantic : (parts[signals[0] as string] as number[]);
  if (fusion.method === 'convex' && fusion.weights === undefined)
    return mixScores(scaleByMaximum(lexical), scaleByMaximum(semantic), fusion.alpha);
  if (fusion.method === 'weighted' && signals.includes('strategy'))
    return lexical.map((value, i) => 0.3 * value + 0.7 * (parts.strategy?.[i] as number));
  if (fusion.method === 'weighted') return lexical.map((value, i) => 0.4 * value + 0.6 * (semantic[i] as number));
  return null; // ranks are fusion's own matter
}

describe('an arm', () => {
  test.each(Object.entries(SAMPLE_ARMS))('%s is put together from its columns', async (_, options) => {
    const { boosts = null, curation = null, decay, trajectory, attention, selection, scoring } = options;
    const rows = listRetrievedRows(await retrieve(workspace, options));
    expect(rows.some(({ turns }) => turns.length > 5)).toBe(true);
    for (const row of rows) {
      const { parts, scores, query } = row;
      const relevance = parts[scoring === null ? 'relevance' : 'scoring'] as number[]; // see retriever.scoring.test.ts
      if (scoring === null) {
        expectClose(relevance, computeExpectedRelevance(row, options) ?? relevance, 1e-6, `relevance of ${query.id}`);
        expect(relevance.every((value) => value >= 0)).toBe(true);
      }
      let score = relevance;
      if (boosts !== null) score = score.map((value, i) => value * (parts.boost?.[i] as number));
      if (curation !== null) score = score.map((value, i) => value * (parts.curation?.[i] as number));
      if (decay !== null) score = score.map((value, i) => value * (parts.decay?.[i] as number));
      if (trajectory !== null)
        score = mixScores(scaleByMaximum(score), parts.trajectory as number[], trajectory.weight);
      if (attention !== null)
        score = mixScores(scaleByMaximum(score), scaleByMaximum(parts.attention as number[]), attention.weight);
      expectClose(parts['before selection'] ?? scores, score, 2e-6, query.id);
    }
    const steps = [
      boosts && 'boost',
      curation && 'curation',
      decay && 'decay',
      trajectory && 'trajectory',
      attention && 'attention',
      selection && 'before selection',
    ].filter(Boolean);
    const signals = options.relevance.signals.flatMap((name) =>
      name === 'strategy' ? [name, ...MEMORY_SIGNALS] : name,
    );
    const names = [...(scoring === null ? [...signals, 'relevance'] : ['scoring']), ...steps];
    expect(Object.keys(rows[0]?.parts as object)).toEqual(names);
  });

  test.each([5, 7] as const)(
    'in %i dimensions equals the formulas of its paper, from the texts and vectors on',
    async (dimensions) => {
      const five = { depth: 1, siblingOrder: 0.5, homogeneity: 1.2, temporal: 0.8 };
      const weights = dimensions === 5 ? five : { ...five, branchFactor: 0.4, childrenCount: 0.4 };
      const options = retrieverOptions.parse({
        candidates: [
          { index: 'bm25', k: 19 },
          { index: 'flat', k: 13 },
          { index: 'newest', k: 7 },
        ],
        relevance: { signals: ['cosine', 'bm25'], fusion: { method: 'convex', alpha: 0.7 } },
        decay: { halfLifeHours: 31 },
        trajectory: { dimensions, weight: 0.4, sigma: 0.7, weights: { complexity: 0 } },
        attention: { mechanism: 'unified', mode: 'directed', weight: 0.25 },
      });
      for (const { query, turns, scores, parts } of listRetrievedRows(await retrieve(workspace, options))) {
        const lexical = turns.map((turn) => computeTurnBm25(world, query, turn));
        const semantic = turns.map((turn) => (1 + cosine(world, query, turn)) / 2);
        const decay = turns.map((turn) => 0.5 ** ((query.timestamp - turn.timestamp) / HOUR_MILLISECONDS / 31));
        const trajectory = turns.map((turn) => Math.exp(-computeOracleDistance(world, query, turn, weights) / 0.7));
        const [back, forward, place] = [
          computeOracleRcp(world, query, turns),
          computeOracleIrcp(world, query, turns),
          computeOracleTpo(world, query, turns, weights),
        ];
        const attention = turns.map(
          (_, i) => 0.4 * (back[i] as number) + 0.4 * (forward[i] as number) + 0.2 * (place[i] as number),
        );
        expectClose(parts.bm25 as number[], lexical, 1e-6, `bm25 of ${query.id}`);
        expectClose(parts.decay as number[], decay, 1e-6, `decay of ${query.id}`);
        expectClose(parts.trajectory as number[], trajectory, 1e-5, `trajectory of ${query.id}`);
        expectClose(parts.attention as number[], attention, 1e-5, `attention of ${query.id}`);
        const relevance = mixScores(scaleByMaximum(lexical), scaleByMaximum(semantic), 0.7);
        const decayed = relevance.map((value, i) => value * (decay[i] as number));
        const placed = mixScores(scaleByMaximum(decayed), trajectory, 0.4);
        expectClose(scores, mixScores(scaleByMaximum(placed), scaleByMaximum(attention), 0.25), 5e-5, query.id);
      }
    },
  );

  test.each([
    ['rcp', computeOracleRcp],
    ['ircp, directed', computeOracleIrcp],
  ] as const)('%s alone equals its formula', async (arm, formula) => {
    for (const { query, turns, parts } of listRetrievedRows(await retrieve(workspace, SAMPLE_ARMS[arm])))
      expectClose(parts.attention as number[], formula(world, query, turns), 1e-5, query.id);
  });

  test('of literal IRCP ranks as one of RCP does, and a directed one does not', async () => {
    const listRetrievedScores = async (arm: SampleArm) => [...(await retrieve(workspace, SAMPLE_ARMS[arm])).scores];
    expect(await listRetrievedScores('ircp, literal')).toEqual(await listRetrievedScores('rcp'));
    expect(await listRetrievedScores('ircp, directed')).not.toEqual(await listRetrievedScores('rcp'));
  });

  test.each(['published', 'framework'] as const)(
    'with %s propagation compares with vectors of the moment',
    async (preset) => {
      const rows = listRetrievedRows(await retrieve(workspace, SAMPLE_ARMS[`propagation, ${preset}`]));
      for (const { query, turns, parts } of rows) {
        const expected = turns.map((turn) => computePropagatedCosine(world, query, turn, PROPAGATION[preset]));
        expectClose(parts.cosine as number[], expected, 1e-4, query.id);
      }
    },
  );
});

test('queries before anything was said have no candidates, and harm nobody', async () => {
  const [first, ...others] = world.queries as [Query, ...Query[]];
  const early = { ...first, timestamp: 0, anchorTurnId: null };
  const before = tf.memory().numTensors;
  const own = createSampleWorkspace({ ...world, queries: [early, ...others] });
  for (const options of Object.values(SAMPLE_ARMS)) {
    const { pool, scores } = await retrieve(own, options);
    expect([...pool.positions.subarray(0, pool.width)].every((position) => position === -1)).toBe(true);
    expect(scores.every(Number.isFinite)).toBe(true);
  }
  own.dispose();
  expect(tf.memory().numTensors).toBe(before);
});

describe('tensors', () => {
  test('of every arm are gone after the workspace is disposed', async () => {
    const before = tf.memory().numTensors;
    const own = createSampleWorkspace(world);
    for (const options of Object.values(SAMPLE_ARMS)) await retrieve(own, options);
    expect(tf.memory().numTensors).toBeGreaterThan(before);
    own.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });

  test.each([
    ['a sigma', 'trajectory, 5', { trajectory: { ...SAMPLE_ARMS['trajectory, 5'].trajectory, sigma: 0 } }],
    ['a half-life', 'decay', { decay: { halfLifeHours: -1 } }],
    ['a mix', 'unified', { attention: { ...SAMPLE_ARMS.unified.attention, mix: { rcp: 1, ircp: 1, tpo: 1 } } }],
    ['a depth', 'bm25', { candidates: [{ ...SAMPLE_ARMS.bm25.candidates[0], k: 0 }] }],
  ] as const)('of an arm that throws, for %s that cannot be, too', async (_, arm, wrong) => {
    const before = tf.memory().numTensors;
    const own = createSampleWorkspace(world);
    const options = { ...SAMPLE_ARMS[arm], ...wrong } as RetrieverOptions;
    await expect(retrieve(own, options)).rejects.toThrow(RagPlusPlusError);
    own.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
});
