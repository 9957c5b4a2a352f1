import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { check } from '../../core/validation/validation.ts';
import type { Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { STRATEGY_WEIGHTS } from '../query/strategy.ts';
import { askedMemories } from './asked-memories.ts';
import { buildNewestPool } from './columns.harness.ts';
import { createSampleWorkspace, DIMENSION, drawSampleWorld } from './corpus.fixture.ts';
import { computeMemorySignals, MEMORY_SIGNALS, type MemorySignal, scoreMemorySignals } from './memory-signals.ts';
import { chooseStrategyWeights, strategyOptions } from './signal-options.ts';
import { listStrategySignals, strategySignal } from './strategy.ts';

beforeAll(() => useBackend('wasm'));
const NOON = Date.UTC(2024, 4, 15, 12);
const DAY = 24 * 3_600_000;

const remember = (id: string, daysAgo: number, attributes: Turn['attributes'] = {}): Turn => ({
  ...{ id, conversationId: 'c0', parentId: null, author: null, channel: null },
  ...{ timestamp: NOON - daysAgo * DAY, text: `note ${id}`, attributes },
});
const ask = (id: string, text: string, daysAgo = 0): Query => ({
  ...{ id, text, timestamp: NOON - daysAgo * DAY, anchorTurnId: null, author: null, channel: null },
  ...{ split: 'test', cluster: 'c0' },
});

/** The shop's memories; before the last one there is one Acme. */
const TURNS = [
  remember('a', 40, { entities: ['customer:acme'], importance: 0.7, useCount: 12 }),
  remember('b', 20, { entities: ['customer:kai-media', 'order:17'], memoryType: 'summary' }),
  remember('c', 9, { entities: ['customer:acme', 'customer:kai-media'], memoryType: 'procedural', useCount: 0 }),
  remember('d', 1, { entities: ['supplier:acme'] }),
];
const QUERIES = [
  ask('q0', 'What did Acme order?', 3),
  ask('q1', 'How do I handle the orders of Kai Media?', 3),
  ask('q2', 'Why did Acme and Kai Media pay less last month?', 3),
  ask('q3', 'What did Acme order?'),
];

function openShop(turns: readonly Turn[] = TURNS) {
  const drawn = drawSampleWorld(5);
  const vectors = [...drawn.vectorOf.values()].filter((vector) => vector.some((value) => value !== 0));
  const ids = [...TURNS, ...QUERIES].map(({ id }) => id);
  const vectorOf = new Map(ids.map((id, i) => [id, vectors[i] as Float32Array<ArrayBufferLike>]));
  return createSampleWorkspace({ turns: [...turns], queries: QUERIES, vectorOf: vectorOf as never });
}

describe('what questions ask of memories', () => {
  test('entities are those of earlier turns: a name that later turns make ambiguous is not', async () => {
    const workspace = openShop();
    const { entities, strategies, windows } = await workspace.get(askedMemories(null));
    expect(entities).toEqual([['customer:acme'], ['customer:kai-media'], ['customer:acme', 'customer:kai-media'], []]);
    expect(strategies.slice(0, 3)).toEqual(['factual_entity_focused', 'procedural', 'analytical']);
    expect([...windows.subarray(4, 6)]).toEqual([Date.UTC(2024, 3, 1), Date.UTC(2024, 4, 1) - 1]);
    expect([...windows.subarray(0, 2)]).toEqual([Number.NaN, Number.NaN]);
    workspace.dispose();
    const before = openShop(TURNS.slice(0, 3));
    const then = await before.get(askedMemories(null));
    expect(then.entities.slice(0, 3)).toEqual(entities.slice(0, 3));
    expect(then.entities[3]).toEqual(['customer:acme']);
    before.dispose();
  });
});

test('scores and columns are those of the formulas', async () => {
  const workspace = openShop();
  const pool = await buildNewestPool(workspace, 4);
  const asked = await workspace.get(askedMemories(null));
  const scores = await workspace.get(strategySignal({ weights: 'by-question' }), pool);
  const columns = new Map<MemorySignal, Float32Array>();
  for (const name of MEMORY_SIGNALS)
    columns.set(name, (await workspace.get(listStrategySignals()[name], pool)) as Float32Array);
  let compared = 0;
  for (const [pair, position] of pool.positions.entries()) {
    if (position < 0) continue;
    const query = Math.floor(pair / pool.width);
    const { timestamp, attributes = {} } = workspace.corpus.turns[position] as Turn;
    const [start, end] = asked.windows.subarray(2 * query, 2 * query + 2) as unknown as [number, number];
    const memoryType = (attributes.memoryType as string | undefined) ?? null;
    const cosine = columns.get('semantic_similarity')?.[pair] as number;
    const signals = computeMemorySignals(
      {
        ...{ cosine, createdAt: timestamp, memoryType },
        entities: attributes.entities as string[],
        importance: (attributes.importance as number) ?? { summary: 0.9, procedural: 0.8 }[memoryType ?? ''] ?? 0.5,
        useCount: (attributes.useCount as number) ?? null,
      },
      {
        now: QUERIES[query]?.timestamp as number,
        entities: asked.entities[query] as string[],
        window: Number.isNaN(start) ? null : { start, end },
      },
    );
    for (const name of MEMORY_SIGNALS) expect(columns.get(name)?.[pair], name).toBeCloseTo(signals[name], 6);
    const weights = STRATEGY_WEIGHTS[asked.strategies[query] as keyof typeof STRATEGY_WEIGHTS];
    expect(scores[pair]).toBeCloseTo(Math.max(0, scoreMemorySignals(signals, weights, memoryType)), 5);
    compared++;
  }
  expect(compared).toBe(13);
  expect(DIMENSION).toBeGreaterThan(1);
  workspace.dispose();
});

describe('weights', () => {
  const own = { ...STRATEGY_WEIGHTS.procedural };

  test('are of the question, of one strategy, uniform, or own ones', () => {
    expect(chooseStrategyWeights({ weights: 'by-question' }, 'analytical')).toBe(STRATEGY_WEIGHTS.analytical);
    expect(chooseStrategyWeights({ weights: 'procedural' }, 'analytical')).toBe(STRATEGY_WEIGHTS.procedural);
    expect(Object.values(chooseStrategyWeights({ weights: 'uniform' }, 'analytical'))).toEqual(Array(5).fill(0.2));
    expect(chooseStrategyWeights({ weights: own }, 'analytical')).toBe(own);
    expect(chooseStrategyWeights({ weights: { analytical: own } }, 'analytical')).toBe(own);
    expect(chooseStrategyWeights({ weights: { analytical: own } }, 'exploratory')).toBe(STRATEGY_WEIGHTS.exploratory);
  });

  test('of a user are in place of the others, for the strategies that they have', () => {
    const options = { weights: 'uniform', users: { ann: own, bo: { analytical: own } } } as const;
    expect(chooseStrategyWeights(options, 'exploratory', 'ann')).toBe(own);
    expect(chooseStrategyWeights(options, 'analytical', 'bo')).toBe(own);
    expect(chooseStrategyWeights(options, 'exploratory', 'bo')).toBe(STRATEGY_WEIGHTS.exploratory);
    for (const user of ['cy', 'toString', null])
      expect(Object.values(chooseStrategyWeights(options, 'exploratory', user))).toEqual(Array(5).fill(0.2));
  });

  test('sum to 1 within .01, and have no other names', () => {
    expect(check(strategyOptions, { weights: { ...own, importance: own.importance + 0.009 } })).toHaveProperty('value');
    for (const weights of [{ ...own, importance: 0.5 }, { ...own, luck: 0 }, { fast: own }, 'fast', { importance: 1 }])
      expect(check(strategyOptions, { weights }), JSON.stringify(weights)).toHaveProperty('faults');
  });
});

test('the null control gives the questions the strategies of others, each as often', async () => {
  const workspace = openShop();
  const control = { kind: 'shuffled-strategies', seed: 2 } as const;
  const pool = await buildNewestPool(workspace, 4);
  const use = strategySignal(strategyOptions.parse({}));
  const { strategies } = await workspace.get(askedMemories(null));
  const shuffled = createRandom(workspace.controlSeed(control), 'shuffled-strategies').shuffle([...strategies]);
  expect(shuffled).not.toEqual(strategies);
  const scores = await workspace.under(control).get(use, pool);
  expect(scores).not.toEqual(await workspace.get(use, pool));
  // A question keeps its scores where it drew a strategy of the same weights.
  for (const [row, strategy] of shuffled.entries()) {
    const own = await workspace.get(strategySignal(strategyOptions.parse({ weights: strategy })), pool);
    expect(scores.subarray(row * pool.width, (row + 1) * pool.width)).toEqual(
      own.subarray(row * pool.width, (row + 1) * pool.width),
    );
  }
  workspace.dispose();
});
