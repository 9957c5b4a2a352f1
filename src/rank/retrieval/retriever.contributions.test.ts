import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import { parseArm, SAMPLE_ARMS } from './arms.fixture.ts';
import { decomposeScores, type Retrieved, retrieve } from './retriever.ts';
import { decomposeMix, readSignalFamily } from './steps/score-parts.ts';
import { readArm } from './written-steps.ts';

beforeAll(() => useBackend('wasm'));
const world = drawSampleWorld(7);

/** Rounding of a few operations in float32, relative to the magnitudes that are added. */
const ROUNDING = 8 * 2 ** -24;

test.each(Object.keys(SAMPLE_ARMS) as (keyof typeof SAMPLE_ARMS)[])(
  'the parts of %s add up to its scores',
  async (name) => {
    const workspace = createSampleWorkspace(world);
    const options = SAMPLE_ARMS[name];
    const retrieved = await retrieve(workspace, options);
    const slots = Int32Array.from(retrieved.pool.positions, (position, slot) => (position < 0 ? -1 : slot));
    const { names, values } = await decomposeScores(workspace, readArm(options), retrieved, slots);
    workspace.dispose();
    const scores = retrieved.components.get('before selection') ?? retrieved.scores;
    expect(values).toHaveLength(slots.length * names.length);
    for (const [n, slot] of slots.entries()) {
      const parts = [...values.subarray(n * names.length, (n + 1) * names.length)];
      const sum = parts.reduce((total, part) => total + part, 0);
      const size = parts.reduce((total, part) => total + Math.abs(part), 0);
      const expected = slot < 0 ? 0 : (scores[slot] as number);
      expect(Math.abs(sum - expected), `place ${n}: ${parts} for ${expected}`).toBeLessThanOrEqual(ROUNDING * size);
    }
  },
);

describe('a chain by hand', () => {
  /** One query, two candidates and a padded place. */
  const retrieved: Retrieved = {
    pool: {
      stage: { name: 'pool', key: 'k', inputs: [], isKept: true },
      queryCount: 1,
      width: 3,
      positions: Int32Array.of(3, 1, -1),
    },
    scores: Float32Array.of(0, 0, 0),
    components: new Map([
      ['relevance', Float32Array.of(4, 2, 0)],
      ['boost', Float32Array.of(1.5, 0.5, 0)],
      ['decay', Float32Array.of(0.25, 1, 0)],
      ['trajectory', Float32Array.of(0.5, 0.25, 0)],
      ['rcp', Float32Array.of(0.1, 0.4, 0)],
    ]),
  };
  const search = { newest: { k: 3 } };
  const nowhere = { under: () => expect.fail('a chain asks for no signals') };
  const decompose = async (more: object, ...slots: number[]) => {
    const arm = readArm(parseArm({ search, ...more }));
    const { names, values } = await decomposeScores(nowhere, arm, retrieved, Int32Array.from(slots));
    return { names, values: [...values].map((value) => Number(value.toPrecision(6))) };
  };

  test('relevance is a part, and what age takes away is another', async () => {
    expect(await decompose({}, 0, 1)).toEqual({ names: ['relevance'], values: [4, 2] });
    expect(await decompose({ decay: 1 }, 0, -1, 1)).toEqual({
      names: ['relevance', 'decay'],
      values: [4, -3, 0, 0, 2, 0],
    });
  });

  test('boosts are a part of their own, and age takes away from what they leave', async () => {
    const boost = [{ attribute: 'outcome', factor: 1 }];
    expect(await decompose({ boost }, 0, 1)).toEqual({ names: ['relevance', 'boost'], values: [4, 2, 2, -1] });
    expect(await decompose({ boost, decay: 1 }, 0, 1)).toEqual({
      names: ['relevance', 'boost', 'decay'],
      values: [4, 2, -4.5, 2, -1, 0],
    });
  });

  test('each blend divides by the maximum of the candidates', async () => {
    // r d = [1, 2]; s = .8 r d / 2 + .2 t = [.5, .85]; .6 s / .85 + .4 a / .4
    const found = await decompose({ decay: 1, blend: { trajectory: 0.2, rcp: 0.4 } }, 0, 1);
    const k = (0.6 / 0.85) * 0.4;
    const m = (0.6 / 0.85) * 0.2;
    expect(found.names).toEqual(['relevance', 'decay', 'trajectory', 'rcp']);
    const expected = [4 * k, -3 * k, 0.5 * m, 0.1, 2 * k, 0, 0.25 * m, 0.4];
    expect(found.values).toEqual(expected.map((value) => expect.closeTo(value, 5)));
  });
});

test('a mix is split by family, the greatest first; signals without weight have none', () => {
  const signals = ['bm25@share', 'bm25.author', 'decay.24h', 'cosine@next*recency', 'unused'];
  const values = Float32Array.of(1, 2, 3, 4, 9, 5, 6, 7, 8, 9);
  const weights = { 'bm25@share': 1, 'bm25.author': -2, 'decay.24h': 10, 'cosine@next*recency': 0.5 };
  expect(decomposeMix({ signals, values }, weights, Int32Array.of(1, -1, 0))).toEqual({
    names: ['decay', 'bm25', 'cosine × recency'],
    values: Float32Array.of(70, -7, 4, 0, 0, 0, 30, -3, 2),
  });
});

test.each([
  ['bm25', 'bm25'],
  ['decay.24h@thread', 'decay'],
  ['attention.rcp-additive', 'attention'],
  ['cosine@session-best*time.named', 'cosine × time'],
])('%s is of the family %s', (signal, family) => expect(readSignalFamily(signal)).toBe(family));
