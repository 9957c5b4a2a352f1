import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { DimensionMismatchError, NotFiniteError, UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { type EncoderOptions, encoderOptions } from '../../index/encoders/registry.ts';
import type { IndexOptions } from '../../index/registry.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { PROPAGATION_PRESETS } from '../../ops/attention/options.ts';
import { createSampleWorkspace, DIMENSION, drawSampleVector, drawSampleWorld } from '../signals/corpus.fixture.ts';
import { propagatedRows } from '../signals/cosine.ts';
import { defineStage, type Encoding, type StageUse } from '../signals/signal.ts';
import { addCounts, type StageCounts, type StageStore } from '../signals/stage.ts';
import { SampleStageStore } from '../signals/stage-store.harness.ts';
import { prepareFrameSources } from '../signals/trajectory-score.ts';
import { Workspace } from '../signals/workspace.ts';
import { poolOfArm, SAMPLE_ARMS } from './arms.fixture.ts';
import { candidatesFrom, findPool } from './candidate-sources.ts';
import { retrieve, warmUp } from './retriever.ts';

/** Stages whose results no store keeps. */
const NOT_KEPT = ['candidates-newest', 'controlled-frames', 'list-scores', 'graph.distance', 'mentions'];

beforeAll(() => useBackend('wasm'));
const world = drawSampleWorld(3);
const newest: IndexOptions = { index: 'newest', k: 5 };

/** Disposes the workspace and checks that nothing is left. */
async function withWorkspace(
  work: (workspace: ReturnType<typeof createSampleWorkspace>) => Promise<void>,
): Promise<void> {
  const before = tf.memory().numTensors;
  const workspace = createSampleWorkspace(world);
  try {
    await work(workspace);
  } finally {
    workspace.dispose();
  }
  expect(tf.memory().numTensors).toBe(before);
}

describe('what was computed once', () => {
  test('is computed once for each key, whatever the order of its fields', () =>
    withWorkspace(async (workspace) => {
      let calls = 0;
      const compute = () => ++calls;
      expect(await workspace.keepOnce({ a: 1, b: 2 }, compute)).toBe(1);
      expect(await workspace.keepOnce({ b: 2, a: 1 }, compute)).toBe(1);
      expect(await workspace.keepOnce({ a: 1, b: 3 }, compute)).toBe(2);
    }));

  test('is shared by those who ask at the same time', () =>
    withWorkspace(async (workspace) => {
      const [a, b] = await Promise.all([workspace.getCorpusTensor(), workspace.getCorpusTensor()]);
      expect(a).toBe(b);
      expect(a.shape).toEqual([103, 17]);
    }));

  test('has a key of everything that it depends on', () =>
    withWorkspace(async (workspace) => {
      const flat: IndexOptions = { index: 'flat', k: 13 };
      const plain = await workspace.get(candidatesFrom(flat, null));
      expect(await workspace.get(candidatesFrom(flat, null))).toBe(plain);
      const framework = await workspace.get(candidatesFrom(flat, PROPAGATION_PRESETS.framework));
      expect(framework.positions).not.toEqual(plain.positions);
      expect((await workspace.get(candidatesFrom({ ...flat, k: 11 }, null))).width).toBe(11);
      // Only the exact index knows propagated rows, so the others are asked once.
      expect(await workspace.get(candidatesFrom(newest, PROPAGATION_PRESETS.framework))).toBe(
        await workspace.get(candidatesFrom(newest, null)),
      );
    }));

  test('is planned once with all that it is computed from', () =>
    withWorkspace(async (workspace) => {
      const planned: string[] = [];
      const keyed = (name: string) => (value: number) => {
        planned.push(name);
        return value;
      };
      const module = import.meta.url;
      const define = { module, of: 'queries', reads: [] } as const;
      const least = defineStage({ ...define, name: 'least', key: keyed('least'), compute: (_, n: number) => n });
      const twice = defineStage<number, number, { readonly own: StageUse<number> }>({
        ...{ ...define, name: 'twice', key: keyed('twice') },
        inputs: (n) => ({ own: least(n) }),
        compute: ({ inputs }) => 2 * inputs.own,
      });
      const sum = defineStage<number, number, Readonly<Record<'own' | 'other', StageUse<number>>>>({
        ...{ ...define, name: 'sum', key: keyed('sum') },
        inputs: (n) => ({ own: twice(n), other: least(n + 1) }),
        compute: ({ inputs }) => inputs.own - inputs.other,
      });
      expect(await workspace.get(sum(13))).toBe(12);
      expect(planned.sort()).toEqual(['least', 'least', 'sum', 'twice']);
      expect(await workspace.get(least(14))).toBe(14);
      expect(workspace.takeStageCounts().least).toMatchObject({ executed: 2, memory: 1 });
    }));

  test('fails for everyone who asks', () =>
    withWorkspace(async (workspace) => {
      const fail = () => Promise.reject(new ValidationError('no'));
      await expect(workspace.keepOnce('x', fail)).rejects.toThrow('no');
      await expect(workspace.keepOnce('x', () => 1)).rejects.toThrow('no');
    }));
});

describe('with a store', () => {
  const identity = { code: 'c', data: 'd', encoder: { encoder: 'e' } };
  const all = Object.values(SAMPLE_ARMS);

  /** What the arms come to, and how often each stage was made, found in memory, read from the store. */
  async function computeStoreOutcome(store: StageStore): Promise<{ arms: unknown[]; counts: StageCounts }> {
    const workspace = createSampleWorkspace(world, { store, identity });
    const arms: unknown[] = [];
    try {
      for (const arm of all) {
        const { pool, scores, components } = await retrieve(workspace, arm);
        arms.push({ positions: pool.positions, scores, components: [...components] });
      }
      return { arms, counts: workspace.takeStageCounts() };
    } finally {
      workspace.dispose();
    }
  }

  test('a second workspace makes only what is not kept, and comes to the same', async () => {
    const store = new SampleStageStore();
    const [first, second] = [await computeStoreOutcome(store), await computeStoreOutcome(store)];
    expect(second.arms).toEqual(first.arms);
    for (const [name, { executed, disk }] of Object.entries(first.counts)) {
      expect([name, executed > 0, disk]).toEqual([name, true, 0]);
      const kept = [...store.artifacts.values()].filter(({ stage }) => stage.name === name).length;
      expect([name, kept]).toEqual([name, NOT_KEPT.includes(name) ? 0 : executed]);
    }
    for (const [name, { executed }] of Object.entries(second.counts))
      expect([name, executed > 0]).toEqual([name, NOT_KEPT.includes(name)]);
    // What only led to what is kept is not even read.
    expect(Object.keys(first.counts)).toContain('propagated');
    expect(Object.keys(second.counts)).not.toContain('propagated');
    expect(Object.keys(second.counts)).not.toContain('frames');
  });
});

test('counts are added by stage', () => {
  const count = (executed: number, memory: number, disk: number, launches = 0, seconds = 0) => {
    const spent = { launches, bytesRead: 4 * launches, seconds, garbageSeconds: seconds / 2 };
    return { executed, memory, disk, ...spent };
  };
  const a = { pool: count(2, 3, 0, 17, 0.5), cosine: count(1, 0, 5) };
  const b = { bm25: count(7, 0, 0), pool: count(0, 11, 13, 2, 0.25) };
  expect(Object.entries(addCounts(a, b))).toEqual([
    ['bm25', count(7, 0, 0)],
    ['cosine', count(1, 0, 5)],
    ['pool', count(2, 14, 13, 19, 0.75)],
  ]);
  expect(addCounts()).toEqual({});
});

describe('a pool', () => {
  test('holds what any source found strictly before each query', () =>
    withWorkspace(async (workspace) => {
      const parts = poolOfArm(SAMPLE_ARMS.hybrid);
      const pool = await findPool(workspace, null, parts);
      const found = await Promise.all(parts.sources.map(({ index }) => workspace.get(candidatesFrom(index, null))));
      expect(found).toHaveLength(3);
      for (const [q, { timestamp }] of world.queries.entries()) {
        const row = [...pool.positions.subarray(q * pool.width, (q + 1) * pool.width)].filter(
          (position) => position >= 0,
        );
        const all = found.flatMap(({ positions, width }) => [...positions.subarray(q * width, (q + 1) * width)]);
        expect(new Set(row)).toEqual(new Set(all.filter((position) => position >= 0)));
        expect(new Set(row).size).toBe(row.length);
        for (const position of row) expect(workspace.corpus.timestamps[position]).toBeLessThan(timestamp);
      }
    }));

  test('of one channel holds only its turns, and of none only those without', () =>
    withWorkspace(async (workspace) => {
      const pool = await findPool(workspace, null, poolOfArm(SAMPLE_ARMS['same channel']));
      const channels = world.queries.map(({ channel }, q) => {
        const row = [...pool.positions.subarray(q * pool.width, (q + 1) * pool.width)].filter(
          (position) => position >= 0,
        );
        for (const position of row) expect(workspace.corpus.turns[position]?.channel).toBe(channel);
        return row.length > 0 ? channel : 'empty';
      });
      expect(new Set(channels).size).toBeGreaterThan(2);
    }));
});

test('queries see the prefix of the corpus that is strictly earlier, and hang from their anchors', () =>
  withWorkspace(async (workspace) => {
    const { points } = await prepareFrameSources(workspace);
    for (const [q, query] of world.queries.entries()) {
      const earlier = world.turns.filter(({ timestamp }) => timestamp < query.timestamp);
      expect(workspace.batch.cutoffs[q]).toBe(earlier.length);
      expect(workspace.corpus.turns[points.anchors[q] as number]?.id ?? null).toBe(query.anchorTurnId);
    }
    expect(points.anchors).toContain(-1);
  }));

describe('vectors are refused', () => {
  const [turn, query] = [world.turns[5], world.queries[3]] as [{ id: string }, { id: string }];
  const withVector = (id: string, vector: Float32Array) => () =>
    createSampleWorkspace({ ...world, vectorOf: new Map([...world.vectorOf, [id, vector]]) });
  const unit = drawSampleVector(createRandom(1, 'workspace.test'));

  test.each([
    [
      'with NaN in a turn',
      turn,
      unit.with(3, Number.NaN),
      NotFiniteError,
      `vector is not finite at turn ${turn.id}: NaN`,
    ],
    [
      'with infinity in a query',
      query,
      unit.with(0, Infinity),
      NotFiniteError,
      `vector is not finite at query ${query.id}: Infinity`,
    ],
    [
      'of another length',
      query,
      unit.map((value) => 2 * value),
      ValidationError,
      `vector of query ${query.id} has length `,
    ],
    [
      'of another dimension',
      turn,
      unit.subarray(1),
      DimensionMismatchError,
      `numbers in the turn vectors: expected ${103 * DIMENSION}, got ${103 * DIMENSION - 1}`,
    ],
  ])('%s', (_, { id }, vector, error, message) => {
    expect(withVector(id, vector)).toThrow(error);
    expect(withVector(id, vector)).toThrow(message);
  });
});

describe('an encoding', () => {
  const other: Encoding = {
    dimension: 2,
    turnVectors: Float32Array.from({ length: 2 * world.turns.length }, (_, i) => (i % 4 === 0 || i % 4 === 3 ? 1 : 0)),
    queryVectors: Float32Array.from({ length: 2 * world.queries.length }, (_, i) => i % 2),
  };
  const lsa = encoderOptions.parse({ encoder: 'lsa', dimension: 2 });

  /** A workspace with a way to embed that counts how often it is asked. */
  function withEncoder(encoding: Encoding) {
    const corpus = new Corpus(world.turns);
    const concatOwnVectors = (owners: readonly { readonly id: string }[]) =>
      Float32Array.from(owners.flatMap(({ id }) => [...(world.vectorOf.get(id) as Float32Array)]));
    const [turnVectors, queryVectors] = [concatOwnVectors(corpus.turns), concatOwnVectors(world.queries)];
    const asked: EncoderOptions[] = [];
    const encode = async (options: EncoderOptions) => {
      asked.push(options);
      return encoding;
    };
    const { queries } = world;
    const workspace = new Workspace({
      corpus,
      queries,
      turnVectors,
      queryVectors,
      dimension: DIMENSION,
      seed: 5,
      encode,
    });
    return { workspace, asked };
  }

  test('without options is that of the workspace', async () => {
    const { workspace, asked } = withEncoder(other);
    const { dimension, turnVectors, queryVectors } = await workspace.embedWith(null);
    expect([dimension, turnVectors, queryVectors]).toEqual([DIMENSION, workspace.turnVectors, workspace.batch.vectors]);
    expect(asked).toEqual([]);
    workspace.dispose();
  });

  test('is made once for all who ask, and of some queries has their rows', async () => {
    const { workspace, asked } = withEncoder(other);
    const [some, again] = [workspace.withQueries([7, 2]), workspace.withQueries([3])];
    expect(await workspace.embedWith(lsa)).toEqual(other);
    expect((await some.embedWith(lsa)).queryVectors).toEqual(Float32Array.from([0, 1, 0, 1]));
    expect((await again.embedWith(lsa)).turnVectors).toBe(other.turnVectors);
    expect(asked).toEqual([lsa]);
    for (const one of [some, again, workspace]) one.dispose();
  });

  test.each([
    [
      'turns',
      { ...other, turnVectors: other.turnVectors.subarray(2) },
      DimensionMismatchError,
      'numbers in the turn vectors',
    ],
    ['queries', { ...other, queryVectors: other.queryVectors.map((x) => 2 * x) }, ValidationError, 'vector of query q'],
  ])('is refused where it does not fit the %s', async (_, encoding, error, message) => {
    const { workspace } = withEncoder(encoding);
    await expect(workspace.embedWith(lsa)).rejects.toThrow(error);
    await expect(workspace.embedWith(lsa)).rejects.toThrow(message);
    workspace.dispose();
  });

  test('by another encoder needs a way to embed', () =>
    withWorkspace(async (workspace) => {
      await expect(workspace.embedWith(lsa)).rejects.toThrow(UnavailableError);
      expect((await workspace.embedWith(null)).dimension).toBe(DIMENSION);
      await expect(workspace.embedTexts(['rome'], [{ kind: 'turn', id: 't' }])).rejects.toThrow(UnavailableError);
    }));
});

describe('after it is disposed', () => {
  test('everything is refused', async () => {
    const workspace = createSampleWorkspace(world);
    await workspace.getCorpusTensor();
    workspace.dispose();
    workspace.dispose();
    for (const use of [
      () => workspace.runStage<number>(workspace.plan.derived('x', null, []), () => 1),
      () => workspace.getCorpusTensor(),
      () => workspace.get(candidatesFrom(newest, null)),
      () => findPool(workspace, null, poolOfArm(SAMPLE_ARMS.bm25)),
      () => prepareFrameSources(workspace),
      () => workspace.get(propagatedRows(PROPAGATION_PRESETS.published)),
    ]) {
      await expect(use()).rejects.toThrow(ValidationError);
      await expect(use()).rejects.toThrow('workspace was disposed');
    }
  });

  test('what was under way is refused too, and leaves no tensor', async () => {
    const before = tf.memory().numTensors;
    const workspace = createSampleWorkspace(world);
    const waiting = workspace.getCorpusTensor();
    workspace.dispose();
    await expect(waiting).rejects.toThrow('workspace was disposed: "corpus tensor"; open a new workspace');
    const other = createSampleWorkspace(world);
    const late = other.keepOnce('zeros', () => {
      other.dispose();
      return tf.zeros([2, 3]);
    });
    await expect(late).rejects.toThrow('workspace was disposed');
    expect(tf.memory().numTensors).toBe(before);
  });
});

describe('some of the queries by themselves', () => {
  test('get what they get among all, by every arm, in any order, and warm indexes change nothing', () =>
    withWorkspace(async (workspace) => {
      for (const arm of Object.values(SAMPLE_ARMS)) {
        const all = await retrieve(workspace, arm);
        for (const chosen of [[9], [2], [5, 0, 10]]) {
          const some = workspace.withQueries(chosen);
          if (chosen.length === 1) await warmUp(some, arm);
          const { pool, scores } = await retrieve(some, arm);
          for (const [row, query] of chosen.entries()) {
            const own = pool.positions.subarray(row * pool.width, (row + 1) * pool.width).filter((at) => at >= 0);
            const wanted = all.pool.positions.subarray(query * all.pool.width, (query + 1) * all.pool.width);
            expect([...own]).toEqual([...wanted.filter((at) => at >= 0)]);
            for (const i of own.keys())
              expect(scores[row * pool.width + i]).toBeCloseTo(all.scores[query * all.pool.width + i] as number, 5);
          }
          some.dispose();
        }
      }
    }));

  test('leave no stage of queries with the workspace that they are from', () =>
    withWorkspace(async (workspace) => {
      const some = workspace.withQueries([4]);
      await retrieve(some, SAMPLE_ARMS['propagation, framework']);
      expect(Object.keys(workspace.takeStageCounts())).toEqual(['propagated', 'turn-components']);
      expect(Object.keys(some.takeStageCounts())).toContain('query-components');
      some.dispose();
      await expect(retrieve(some, SAMPLE_ARMS.newest)).rejects.toThrow(ValidationError);
      expect((await workspace.getCorpusTensor()).isDisposed).toBe(false);
    }));
});
