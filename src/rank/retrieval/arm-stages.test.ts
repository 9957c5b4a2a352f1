import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import { cosineSignal } from '../signals/cosine.ts';
import { Plan, type StageRoots, withInputs } from '../signals/plan.ts';
import { recencySignal } from '../signals/recency.ts';
import type { Stage } from '../signals/stage.ts';
import type { Workspace } from '../signals/workspace.ts';
import type { ControlOptions } from '../signals/worlds/world-parts.ts';
import { candidatesOfArm, parseArm, poolOfArm, SAMPLE_ARMS, type SampleArm } from './arms.fixture.ts';
import { poolRows } from './candidate-sources.ts';
import { retrieve } from './retriever.ts';
import { listArmStages, type RankOptions, type WrittenSteps } from './written-steps.ts';

beforeAll(() => useBackend('wasm'));
const world = drawSampleWorld(7, 61, 5, 3);
const arms = Object.keys(SAMPLE_ARMS) as SampleArm[];

function countByName(stages: Iterable<Stage>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { name } of stages) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** All that an arm makes of a workspace. */
async function computeOutcome(workspace: Workspace, options: RankOptions): Promise<unknown> {
  const { pool, scores, components } = await retrieve(workspace, options);
  return { positions: pool.positions, scores, components: [...components] };
}

test.each(arms)('what is foretold of an arm is what it executes: %s', async (arm) => {
  const workspace = createSampleWorkspace(world);
  await retrieve(workspace, SAMPLE_ARMS[arm]);
  const executed = Object.entries(workspace.takeStageCounts()).map(([name, counts]) => [name, counts.executed]);
  const foretold = withInputs(listArmStages(workspace.plan, SAMPLE_ARMS[arm])).values();
  workspace.dispose();
  expect(Object.fromEntries(executed)).toEqual(countByName(foretold));
});

test('inputs precede the stages that need them, each once', () => {
  const workspace = createSampleWorkspace(world);
  const stages = [...withInputs(listArmStages(workspace.plan, SAMPLE_ARMS.unified)).values()];
  workspace.dispose();
  const orders = new Map(stages.map(({ key }, order) => [key, order]));
  expect(orders.size).toBe(stages.length);
  for (const [order, { inputs }] of stages.entries())
    for (const { key } of inputs) expect(orders.get(key)).toBeLessThan(order);
});

describe('an arm is not mistaken for one that differs in a single option', () => {
  const hnsw = { index: 'hnsw', k: 13, m: 5, efConstruction: 11, efSearch: 13 };
  const bm25 = { index: 'bm25', k: 19, k1: 1.2, b: 0.75, variant: 'lucene', dropStopWords: false, stem: false };
  const flat = { index: 'flat', k: 13 };
  const mix = { rcp: 0.4, ircp: 0.4, tpo: 0.2 };
  const ring = { topology: 'ring', combine: 'multiplicative', decay: 0.5, temperature: 0.1, self: 'include' };
  const trajectory = { weight: 0.3, dimensions: 5, complexityScale: 'log', sigma: 1, weights: { depth: 1 } };
  const unified = { ...ring, mode: 'directed', weight: 0.2, mix, coordinates: structuredClone(trajectory) };
  const control = { kind: 'permuted-order', seed: 7 } as const;
  /** In the order of the steps; null is a step that another value adds. */
  const written: Readonly<Record<string, unknown>> = {
    propagate: { ...ring, direction: 'none', beta: 0.3 },
    search: { bm25, hnsw, flat },
    filter: null,
    fuse: { convex: { flat: 0.5, bm25: 'rest' } },
    mix: null,
    boost: [{ attribute: 'outcome', factor: 0.5 }],
    decay: { halfLifeHours: 31 },
    blend: { trajectory, unified },
    select: null,
    control,
  };
  /** Path -> another value. */
  const changes: Record<string, unknown> = {
    'search.bm25.k': 7,
    'search.bm25.k1': 0.3,
    'search.bm25.b': 0.1,
    'search.bm25.variant': 'bm25+',
    'search.bm25.dropStopWords': true,
    'search.bm25.stem': true,
    'search.hnsw.k': 5,
    'search.hnsw.m': 2,
    'search.hnsw.efConstruction': 1,
    'search.hnsw.efSearch': 1,
    'search.flat.k': 31,
    'fuse.convex.flat': 0.9,
    'fuse.convex.bm25': 0.1,
    filter: 'channel = $query.channel',
    'boost.0.attribute': 'importance',
    'boost.0.factor': 2,
    'decay.halfLifeHours': 5,
    'blend.trajectory.weight': 0.9,
    'blend.trajectory.dimensions': 7,
    'blend.trajectory.complexityScale': 'raw',
    'blend.trajectory.sigma': 0.1,
    'blend.trajectory.weights.depth': 5,
    'blend.unified.topology': 'line',
    'blend.unified.combine': 'additive',
    'blend.unified.decay': 2,
    'blend.unified.temperature': 1,
    'blend.unified.self': 'exclude',
    'blend.unified.mode': 'literal',
    'blend.unified.weight': 0.9,
    'blend.unified.mix': { rcp: 0.1, ircp: 0.1, tpo: 0.8 },
    'blend.unified.coordinates.weight': 0.9,
    'blend.unified.coordinates.dimensions': 7,
    'blend.unified.coordinates.complexityScale': 'raw',
    'blend.unified.coordinates.sigma': 0.1,
    'blend.unified.coordinates.weights.depth': 5,
    'propagate.topology': 'line',
    'propagate.combine': 'additive',
    'propagate.decay': 2,
    'propagate.temperature': 1,
    'propagate.self': 'exclude',
    'propagate.direction': 'causal',
    'propagate.beta': 0.9,
    'control.kind': 'rewired-graph',
    'control.seed': 5,
    select: { mmr: { k: 7, lambda: 0.4 } },
    mix: { signals: { groups: ['time', 'structure'], encoders: [] }, weights: { rcp: 1, newest: 2 }, origin: null },
  };
  const parseWritten = ({ control: own, ...steps }: Readonly<Record<string, unknown>>) =>
    parseArm(steps, own as ControlOptions);
  const base = parseWritten(written);

  function listLeafPathsOf(value: unknown, path: string): string[] {
    if (value === null || typeof value !== 'object' || path in changes) return [path];
    return Object.entries(value).flatMap(([key, item]) => listLeafPathsOf(item, path === '' ? key : `${path}.${key}`));
  }

  function changeOption(path: string): RankOptions {
    const copy = structuredClone(written) as Record<string, never>;
    const keys = path.split('.');
    const last = keys.pop() as string;
    const holder = keys.reduce<Record<string, unknown>>((node, key) => node[key] as Record<string, never>, copy);
    holder[last] = changes[path];
    return parseWritten(path === 'mix' ? { ...copy, fuse: null } : copy);
  }

  test('every option has another value here', () => {
    const { steps: _, ...resolved } = base as unknown as WrittenSteps;
    // The order of blends is no option of a stage: scores are blended after the stages.
    const paths = listLeafPathsOf({ ...resolved }, '').filter((path) => !path.startsWith('blend.order'));
    expect(paths.sort()).toEqual(
      [...Object.keys(changes), 'search.bm25.index', 'search.hnsw.index', 'search.flat.index'].sort(),
    );
  });

  test.each(['rcp', 'tpo'])('another mechanism: %s', async (mechanism) => {
    const { coordinates: __, ...own } = unified;
    const other = parseWritten({ ...written, blend: { trajectory, [mechanism]: own } });
    const keysOf = (options: RankOptions) => [...withInputs(listArmStages(shared.plan, options)).keys()];
    expect(keysOf(other)).not.toEqual(keysOf(base));
    expect((await retrieve(shared, other)).scores).not.toEqual((await retrieve(shared, base)).scores);
  });

  // What is computed of the stages' results, and is no stage itself; and what the coordinates that TPO compares do not use.
  const composed = [
    'fuse.convex.flat',
    'fuse.convex.bm25',
    'blend.trajectory.weight',
    'blend.unified.weight',
    'blend.unified.coordinates.weight',
    'blend.unified.coordinates.sigma',
    'select',
  ];
  let shared: Workspace;
  beforeAll(() => {
    shared = createSampleWorkspace(world);
  });
  afterAll(() => shared.dispose());

  test.each(Object.keys(changes))('%s', async (path) => {
    const listStageKeys = (options: RankOptions) => [...withInputs(listArmStages(shared.plan, options)).keys()];
    if (composed.includes(path)) expect(listStageKeys(changeOption(path))).toEqual(listStageKeys(base));
    else expect(listStageKeys(changeOption(path))).not.toEqual(listStageKeys(base));
    const alone = createSampleWorkspace(world);
    try {
      const expected = await computeOutcome(alone, changeOption(path));
      await computeOutcome(shared, base);
      expect(await computeOutcome(shared, changeOption(path))).toEqual(expected);
    } finally {
      alone.dispose();
    }
  });
});

describe('the key of', () => {
  const roots: StageRoots = {
    identity: { code: 'c', data: 'd', encoder: { encoder: 'lsa', fittedOn: 'f' } },
    corpus: new Corpus(world.turns),
    queries: world.queries,
    seed: 3,
  };
  const keys = (other: Partial<StageRoots>): Record<string, string> => {
    const plan = new Plan({ ...roots, ...other });
    const stages = withInputs([
      ...listArmStages(plan, SAMPLE_ARMS.unified),
      ...listArmStages(plan, SAMPLE_ARMS['propagation, framework']),
      plan.stage(recencySignal(null), plan.stage(poolRows(poolOfArm(SAMPLE_ARMS.newest)))),
      plan.derived('tuning-value', { metric: 'mrr' }, listArmStages(plan, SAMPLE_ARMS.newest)),
    ]).values();
    return Object.fromEntries([...stages].map(({ name, key }) => [name, key]));
  };
  /** The pool is that of the newest turns. */
  const onTexts = ['pool', 'turn-components', 'query-components', 'candidates-newest', 'candidates-bm25', 'recency'];
  const { identity, queries } = roots;
  const others = queries.map((query, i) => (i === 2 ? { ...query, split: 'dev' as const } : query));
  const dev = queries.map((query, i) => (i === 2 ? { ...query, split: 'test' as const } : query));

  test.each<[string, Partial<StageRoots>, string[]]>([
    ['every stage depends on the code', { identity: { ...identity, code: 'x' } }, []],
    ['every stage depends on the data', { identity: { ...identity, data: 'x' } }, []],
    ['all but those on texts alone depend on the encoder', { identity: { ...identity, encoder: {} } }, onTexts],
    [
      'likewise on what it was fitted on',
      { identity: { ...identity, encoder: { encoder: 'lsa', fittedOn: 'x' } } },
      onTexts,
    ],
    ['all but those on turns alone depend on the queries', { queries: queries.slice(1) }, ['turn-components']],
    ['likewise on the split of each', { queries: queries[2]?.split === 'dev' ? dev : others }, ['turn-components']],
  ])('%s', (_, other, untouched) => {
    const [before, after] = [keys({}), keys(other)];
    expect(Object.keys(after)).toEqual(Object.keys(before));
    const same = Object.keys(before).filter((name) => before[name] === after[name]);
    expect(same.sort()).toEqual(untouched.toSorted());
  });

  test('hnsw depends on the seed, and with it what comes after; the exact index does not', () => {
    const [a, b] = [3, 4].map((seed) => new Plan({ ...roots, seed })) as [Plan, Plan];
    const hnsw = SAMPLE_ARMS['cosine, hnsw'];
    const source = candidatesOfArm(hnsw);
    const pool = poolRows(poolOfArm(hnsw));
    expect(a.stage(source).key).not.toBe(b.stage(source).key);
    expect(a.stage(pool).key).not.toBe(b.stage(pool).key);
    const cosine = cosineSignal(null);
    expect(a.stage(cosine, a.stage(pool)).key).not.toBe(b.stage(cosine, b.stage(pool)).key);
    const flat = poolRows(poolOfArm(SAMPLE_ARMS['cosine, flat']));
    expect(a.stage(flat).key).toBe(b.stage(flat).key);
    expect(a.derived('x', null, []).key).not.toBe(b.derived('x', null, []).key);
  });

  test('every stage depends on the backend', async () => {
    const wasm = keys({});
    await useBackend('cpu');
    const cpu = keys({});
    await useBackend('wasm');
    expect(Object.keys(wasm).filter((name) => wasm[name] === cpu[name])).toEqual([]);
    expect(keys({})).toEqual(wasm);
  });
});
