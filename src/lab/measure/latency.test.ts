import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { retrieve } from '../../rank/retrieval/retriever.ts';
import { parseSteps } from '../../rank/retrieval/written-steps.ts';
import { createSampleWorkspace, drawSampleWorld } from '../../rank/signals/corpus.fixture.ts';
import { ComponentClock, measureLatency, summariseLatency, timeQueries } from './latency.ts';

beforeAll(() => useBackend('wasm'));

describe('percentiles', () => {
  test('lie between two queries in proportion, whatever their order', () => {
    // numpy.percentile([7, 1, 3, 31, 13], [50, 95, 99]) = [7, 27.4, 30.28]
    const { part } = summariseLatency([7, 1, 3, 31, 13].map((time) => new Map([['part', time]])));
    expect(part?.p50).toBeCloseTo(7, 12);
    expect(part?.p95).toBeCloseTo(27.4, 12);
    expect(part?.p99).toBeCloseTo(30.28, 12);
  });

  test('of one query are its time, and each component has its own', () => {
    const times = new Map([
      ['a', 2],
      ['b', 5],
    ]);
    expect(summariseLatency([times])).toEqual({ a: { p50: 2, p95: 2, p99: 2 }, b: { p50: 5, p95: 5, p99: 5 } });
  });
});

describe('the clock', () => {
  test('takes the time of a part out of the one that it lies within, at any depth, and sums up parts of one name', async () => {
    let now = 100;
    const clock = new ComponentClock(() => now);
    const take = (milliseconds: number) => {
      now += milliseconds;
    };
    await clock.watch('outer', async () => {
      take(2);
      await clock.watch('inner', async () => {
        take(3);
        await clock.watch('innermost', () => take(5));
        take(7);
      });
      take(11);
      await clock.watch('innermost', () => take(13));
    });
    take(1000);
    await clock.watch('inner', () => take(17));
    expect([...clock.times]).toEqual([
      ['outer', 13],
      ['inner', 27],
      ['innermost', 18],
    ]);
  });

  test('hands back what the work gives', async () => {
    expect(await new ComponentClock().watch('part', () => 37)).toBe(37);
    await expect(new ComponentClock().watch('part', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  });
});

const world = drawSampleWorld(5);
const placed = (dense: string) => [
  { search: { bm25: { k: 19 }, [dense]: { k: 13 }, newest: { k: 7 } } },
  { fuse: { convex: { [dense]: 0.8, bm25: 'rest' } } },
  { decay: 31 },
];
const NEWEST = parseSteps([{ search: { newest: { k: 23 } } }]);
const DENSE = parseSteps([{ search: { flat: { k: 23 } } }]);
const UNIFIED = parseSteps([...placed('hnsw'), { blend: { trajectory: {}, unified: {} } }]);
const PROPAGATED = parseSteps([{ propagate: 'framework' }, ...placed('flat'), { blend: { trajectory: {} } }]);

describe('of an arm', () => {
  test.each([
    ['newest', NEWEST, ['candidates newest', 'newest']],
    ['dense', DENSE, ['candidates flat', 'flat']],
    [
      'unified',
      UNIFIED,
      [
        'candidates bm25',
        'candidates hnsw',
        'candidates newest',
        'hnsw',
        'bm25',
        'fusion',
        'decay',
        'trajectory',
        'unified',
      ],
    ],
    [
      'propagated',
      PROPAGATED,
      ['candidates bm25', 'candidates flat', 'candidates newest', 'flat', 'bm25', 'fusion', 'decay', 'trajectory'],
    ],
  ])('%s has its components, which together take no longer than the whole', async (_, arm, parts) => {
    const workspace = createSampleWorkspace(world);
    const times = await timeQueries(workspace, arm, 5, [7]);
    expect([...times.keys()]).toEqual(['pool', ...parts, 'compose and rank', 'total']);
    const total = times.get('total') as number;
    const sum = [...times.values()].reduce((before, time) => before + time, 0) - total;
    for (const time of times.values()) expect(time).toBeGreaterThanOrEqual(0);
    expect(sum).toBeLessThanOrEqual(total);
    expect(sum).toBeGreaterThan(0);
    workspace.dispose();
  });

  test('percentiles rise, and no tensor is left', async () => {
    const before = tf.memory().numTensors;
    const workspace = createSampleWorkspace(world);
    const latency = await measureLatency(workspace, UNIFIED, 5, { queries: 7, warmUp: 2 }, 3);
    for (const { p50, p95, p99 } of Object.values(latency)) expect(p50 <= p95 && p95 <= p99).toBe(true);
    expect(latency.total?.p50).toBeGreaterThan(latency.unified?.p50 as number);
    workspace.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });

  test('the first query is run as often as it is to warm up, and then each once', async () => {
    const workspace = createSampleWorkspace(world);
    const asked: (readonly number[])[] = [];
    const withQueries = workspace.withQueries.bind(workspace);
    workspace.withQueries = (places) => {
      asked.push(places);
      return withQueries(places);
    };
    await measureLatency(workspace, NEWEST, 5, { queries: 3, warmUp: 2 }, 3);
    expect(asked).toHaveLength(5);
    expect(asked.slice(0, 2)).toEqual([asked[2], asked[2]]);
    expect(new Set(asked.slice(2).flat()).size).toBe(3);
    workspace.dispose();
  });

  test('what the workspace knows of its queries is not used, and not added to', async () => {
    const workspace = createSampleWorkspace(world);
    const arm = UNIFIED;
    await retrieve(workspace, arm);
    const before = Object.keys(workspace.takeStageCounts());
    expect(before).toEqual(expect.arrayContaining(['pool', 'cosine', 'attention', 'query-components']));
    await measureLatency(workspace, arm, 5, { queries: 3, warmUp: 1 }, 3);
    const after = workspace.takeStageCounts();
    expect(Object.values(after).every(({ executed }) => executed === 0)).toBe(true);
    for (const name of ['pool', 'cosine', 'attention', 'query-components']) expect(after).not.toHaveProperty(name);
    workspace.dispose();
  });
});
