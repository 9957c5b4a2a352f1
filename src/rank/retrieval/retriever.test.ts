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
import { parseArm, SAMPLE_ARMS, type SampleArm } from './arms.fixture.ts';
import { type Retrieved, retrieve } from './retriever.ts';
import type { RankOptions, WrittenSteps } from './written-steps.ts';

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

const DENSE = ['hnsw', 'flat', 'cosine'];

/** A column as scores: the cosine is (1 + cos) / 2. */
const readScores = (parts: Row['parts'], name: string) =>
  parts[name]?.map((value) => (DENSE.includes(name) ? (1 + value) / 2 : value)) as number[];

/** The resolved steps of an arm, of those that the expectations below read. */
type Steps = WrittenSteps & {
  readonly search: object;
  readonly fuse?: Readonly<Record<string, string | Readonly<Record<string, number | 'rest'>>>>;
  readonly blend?: Readonly<Record<string, { readonly weight: number }>>;
};

/** The weighted sum of columns. */
const sumScores = (weights: Readonly<Record<string, number>>, read: (name: string) => readonly number[]) =>
  Object.entries(weights)
    .map(([name, weight]) => read(name).map((value) => weight * value))
    .reduce((sums, values) => sums.map((sum, i) => sum + (values[i] as number)));

/** The names of the columns that an arm fuses, in their order. */
function listFused({ search, fuse }: Steps): string[] {
  const [[method, options] = ['only', Object.keys(search)[0]]] = Object.entries(fuse ?? {});
  if (method === 'only') return [options as string];
  const named = Object.keys(options as object).filter((key) => key !== 'k');
  return named.length > 0 ? named : Object.keys(search);
}

/** What the relevance is to be, from the columns; null for ranks, which are a matter of fusion itself, and for lists of scores that the pool lacks. */
function computeExpectedRelevance({ parts }: Row, steps: Steps): readonly number[] | null {
  const [first, ...others] = listFused(steps) as [string, ...string[]];
  if (others.length === 0) return readScores(parts, first);
  const [[method, written]] = Object.entries(steps.fuse as object) as [[string, Record<string, number | 'rest'>]];
  if ((method !== 'convex' && method !== 'weighted') || 'graph' in written) return null;
  const given = Object.values(written).filter((weight) => weight !== 'rest');
  const rest = 1 - given.reduce((sum, weight) => sum + weight, 0);
  const weights = Object.fromEntries(
    Object.entries(written).map(([name, weight]) => [name, weight === 'rest' ? rest : weight]),
  );
  const read = (name: string) => readScores(parts, name);
  return sumScores(weights, method === 'weighted' ? read : (name) => scaleByMaximum(read(name)));
}

/** The component that a step shows, and what it makes of the scores. */
const CHANGES: Readonly<Record<string, string>> = { boost: 'boost', curate: 'curation', decay: 'decay' };

describe('an arm', () => {
  test.each(Object.entries(SAMPLE_ARMS))('%s is put together from its columns', async (_, options) => {
    const arm = options as unknown as Steps;
    const factors = arm.steps.flatMap((name) => CHANGES[name] ?? []);
    const blends = Object.entries(arm.blend ?? {}).filter(([name]) => name !== 'order');
    const isMix = arm.mix !== undefined;
    const rows = listRetrievedRows(await retrieve(workspace, options));
    expect(rows.some(({ turns }) => turns.length > 5)).toBe(true);
    for (const row of rows) {
      const { parts, scores, query } = row;
      const start = parts[isMix ? 'scoring' : 'relevance'] as number[]; // see retriever.scoring.test.ts
      if (!isMix) {
        expectClose(start, computeExpectedRelevance(row, arm) ?? start, 1e-6, `relevance of ${query.id}`);
        expect(start.every((value) => value >= 0)).toBe(true);
      }
      let score: readonly number[] = start;
      for (const name of factors) score = score.map((value, i) => value * (parts[name]?.[i] as number));
      for (const [name, { weight }] of blends) {
        const column = parts[name] as number[];
        const share = name === 'trajectory' ? column : scaleByMaximum(column);
        score = mixScores(scaleByMaximum(score), share, weight);
      }
      expectClose(parts['before selection'] ?? scores, score, 2e-6, query.id);
    }
    const columns = listFused(arm).flatMap((name) => (name === 'strategy' ? [name, ...MEMORY_SIGNALS] : name));
    const selected = arm.select ?? arm.rerank;
    expect(Object.keys(rows[0]?.parts as object)).toEqual([
      ...(isMix ? ['scoring'] : [...columns, 'relevance']),
      ...factors,
      ...blends.map(([name]) => name),
      ...(selected === undefined ? [] : ['before selection']),
    ]);
  });

  test.each([5, 7] as const)(
    'in %i dimensions equals the formulas of its paper, from the texts and vectors on',
    async (dimensions) => {
      const five = { depth: 1, siblingOrder: 0.5, homogeneity: 1.2, temporal: 0.8 };
      const weights = dimensions === 5 ? five : { ...five, branchFactor: 0.4, childrenCount: 0.4 };
      const coordinates = { dimensions, weights: { complexity: 0 } };
      const options = parseArm({
        search: { bm25: { k: 19 }, flat: { k: 13 }, newest: { k: 7 } },
        fuse: { convex: { flat: 0.7, bm25: 'rest' } },
        decay: 31,
        blend: {
          trajectory: { ...coordinates, weight: 0.4, sigma: 0.7 },
          unified: { coordinates, mode: 'directed', weight: 0.25 },
        },
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
        expectClose(parts.unified as number[], attention, 1e-5, `attention of ${query.id}`);
        const relevance = mixScores(scaleByMaximum(lexical), scaleByMaximum(semantic), 0.7);
        const decayed = relevance.map((value, i) => value * (decay[i] as number));
        const placed = mixScores(scaleByMaximum(decayed), trajectory, 0.4);
        expectClose(scores, mixScores(scaleByMaximum(placed), scaleByMaximum(attention), 0.25), 5e-5, query.id);
      }
    },
  );

  test.each([
    ['rcp', 'rcp', computeOracleRcp],
    ['ircp, directed', 'ircp', computeOracleIrcp],
  ] as const)('%s alone equals its formula', async (arm, component, formula) => {
    for (const { query, turns, parts } of listRetrievedRows(await retrieve(workspace, SAMPLE_ARMS[arm])))
      expectClose(parts[component] as number[], formula(world, query, turns), 1e-5, query.id);
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
        expectClose(parts.flat as number[], expected, 1e-4, query.id);
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
    ['a sigma', 'trajectory, 5', { blend: { trajectory: { sigma: 0 } } }],
    ['a half-life', 'decay', { decay: { halfLifeHours: -1 } }],
    ['a mix', 'unified', { blend: { unified: { mix: { rcp: 1, ircp: 1, tpo: 1 } } } }],
    ['a depth', 'bm25', { search: { bm25: { k: 0 } } }],
  ] as const)('of an arm that throws, for %s that cannot be, too', async (_, arm, wrong) => {
    const before = tf.memory().numTensors;
    const own = createSampleWorkspace(world);
    const options = { ...SAMPLE_ARMS[arm], ...wrong } as unknown as RankOptions;
    await expect(retrieve(own, options)).rejects.toThrow(RagPlusPlusError);
    own.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });
});
